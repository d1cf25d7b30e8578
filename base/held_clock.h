#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace pstrain {

/// A clock that can be held: all that is decided in one go is decided by one time, so that what
/// happens in between (the process is stopped, SIGSTOP) counts as time for none of it. Else it is
/// the clock that it was made of. Any thread; one Hold at a time.
class HeldClock final : public Clock {
 public:
  /// `clock` outlives it.
  explicit HeldClock(const Clock& clock) : clock_(clock) {}

  /// Now() stands still for as long as this lives.
  class Hold {
   public:
    explicit Hold(HeldClock& clock) : clock_(clock) {
      clock_.held_.store(clock_.clock_.Now().count(), std::memory_order_release);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { clock_.held_.store(kFree, std::memory_order_release); }

   private:
    HeldClock& clock_;
  };

  std::chrono::nanoseconds Now() const override {
    const std::int64_t held = held_.load(std::memory_order_acquire);
    return held == kFree ? clock_.Now() : std::chrono::nanoseconds(held);
  }
  std::int64_t UnixMillis() const override { return clock_.UnixMillis(); }

 private:
  static constexpr std::int64_t kFree = std::numeric_limits<std::int64_t>::min();

  const Clock& clock_;
  std::atomic<std::int64_t> held_{kFree};
};

}  // namespace pstrain
