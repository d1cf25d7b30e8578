#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace pstrain {

/// A clock that can be frozen: all that is decided in one go is decided by one time, so that what
/// happens in between (the process is stopped, SIGSTOP) counts as time for none of it. Else it is
/// the clock that it was made of. Any thread; one Freeze at a time.
class FreezableClock final : public Clock {
 public:
  /// `clock` outlives it.
  explicit FreezableClock(const Clock& clock) : clock_(clock) {}

  /// Now() stands still for as long as this lives.
  class Freeze {
   public:
    explicit Freeze(FreezableClock& clock) : clock_(clock) {
      clock_.frozen_.store(clock_.clock_.Now().count(), std::memory_order_release);
    }
    Freeze(const Freeze&) = delete;
    Freeze& operator=(const Freeze&) = delete;
    ~Freeze() { clock_.frozen_.store(kRuns, std::memory_order_release); }

   private:
    FreezableClock& clock_;
  };

  std::chrono::nanoseconds Now() const override {
    const std::int64_t frozen = frozen_.load(std::memory_order_acquire);
    return frozen == kRuns ? clock_.Now() : std::chrono::nanoseconds(frozen);
  }
  std::int64_t UnixMillis() const override { return clock_.UnixMillis(); }

 private:
  static constexpr std::int64_t kRuns = std::numeric_limits<std::int64_t>::min();

  const Clock& clock_;
  std::atomic<std::int64_t> frozen_{kRuns};
};

}  // namespace pstrain
