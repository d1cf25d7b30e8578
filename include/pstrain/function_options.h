#pragma once

#include <chrono>
#include <optional>

namespace pstrain {

/// What a function of a program asks of those that run it. A value.
struct FunctionOptions {
  /// For how long one attempt may run; nothing: for as long as it likes. See Step::stop_token.
  std::optional<std::chrono::milliseconds> deadline = std::nullopt;
  /// False: it changes no variable. It takes no place in the order of changes, and a Gradient,
  /// Assign or Add of its step is its error.
  bool writes = true;
  /// True: either all that one attempt changes and returns counts or nothing of it, also when its
  /// worker dies between two ps: the next attempt does not run the function again. What it changes
  /// and returns has 64 KiB at most, as bytes; more is RESOURCE_EXHAUSTED, and the call has changed
  /// nothing. Each call costs a round trip to the chief more. Without effect where `writes` is not.
  bool atomic = false;
  friend bool operator==(const FunctionOptions&, const FunctionOptions&) = default;
};

}  // namespace pstrain
