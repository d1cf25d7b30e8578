#pragma once

#include <chrono>
#include <optional>

namespace pstrain {

/// What a function of a program asks of those that run it; TensorFlow has nothing of it. A value.
struct FunctionOptions {
  /// True: either all that one attempt changes and returns counts or nothing of it, also when its
  /// worker dies between two ps: the next attempt does not run the function again. What it changes
  /// and returns has 64 KiB at most, as bytes; more is RESOURCE_EXHAUSTED, and the call has changed
  /// nothing. Each call costs a round trip to the chief more.
  bool atomic = false;

  /// How long one attempt may run; the time in which it waits for a ps does not count. Positive. An
  /// attempt beyond it is given up: nothing of it counts, its Step::stop_token() is told, and the
  /// call runs again, on another worker where there is one. After three of them the call is an
  /// error, DEADLINE_EXCEEDED. A worker on which every thread is beyond twice its deadline is
  /// started again. None: no attempt is ever given up for its time.
  std::optional<std::chrono::milliseconds> deadline = std::nullopt;

  /// False: the function changes no variable. Its calls have no work id and no shard hears of them,
  /// so they cost no push and do not count in Iterations(); they wait for their phase as others do,
  /// and what is of a later phase waits for them. ScheduleOptions.priority is among such calls.
  /// Gradient, Assign and Add are the function's error, FAILED_PRECONDITION. Not together with
  /// `atomic`: INVALID_ARGUMENT by ParameterServerStrategy::Create.
  bool writes = true;
  friend bool operator==(const FunctionOptions&, const FunctionOptions&) = default;
};

}  // namespace pstrain
