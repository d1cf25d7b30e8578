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
  /// True: either all that an attempt changes reaches the shards or nothing of it, also when its
  /// worker dies between two ps. What it changes and returns has 64 KiB at most.
  bool atomic = false;
  friend bool operator==(const FunctionOptions&, const FunctionOptions&) = default;
};

}  // namespace pstrain
