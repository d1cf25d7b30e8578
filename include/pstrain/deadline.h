#pragma once

#include <chrono>

namespace pstrain {

/// How long a call may block, from its beginning; TensorFlow's calls have no bound. Every call that
/// may block takes one: a duration (`std::chrono::seconds(30)`), or Forever(). A value; any thread.
class Deadline {
 public:
  /// A negative duration is over at once.
  template <typename Rep, typename Period>
  Deadline(std::chrono::duration<Rep, Period> from_now)
      : from_now_(std::chrono::duration_cast<std::chrono::nanoseconds>(from_now)) {}

  /// No end.
  bool forever() const { return forever_; }
  /// REQUIRES: !forever().
  std::chrono::nanoseconds from_now() const { return from_now_; }

 private:
  friend Deadline Forever();
  Deadline() : forever_(true) {}

  std::chrono::nanoseconds from_now_{0};
  bool forever_ = false;
};

/// A call with it blocks until it has succeeded or failed.
inline Deadline Forever() { return {}; }

}  // namespace pstrain
