#pragma once

namespace pstrain {

/// What a function of a program asks of those that run it. A value.
struct FunctionOptions {
  /// True: either all that one attempt changes and returns counts or nothing of it, also when its
  /// worker dies between two ps: the next attempt does not run the function again. What it changes
  /// and returns has 64 KiB at most, as bytes; more is RESOURCE_EXHAUSTED, and the call has changed
  /// nothing. Each call costs a round trip to the chief more.
  bool atomic = false;
  friend bool operator==(const FunctionOptions&, const FunctionOptions&) = default;
};

}  // namespace pstrain
