#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace pstrain {

/// A clock for tests that moves only when told. Any thread.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::chrono::nanoseconds now = std::chrono::nanoseconds::zero(),
                       std::int64_t unix_millis_at_zero = 1'700'000'000'000)
      : now_(now.count()), unix_millis_at_zero_(unix_millis_at_zero) {}

  std::chrono::nanoseconds Now() const override {
    return std::chrono::nanoseconds(now_.load(std::memory_order_acquire));
  }
  /// Moves with Now(): the wall time given for zero plus the steady time.
  std::int64_t UnixMillis() const override {
    return unix_millis_at_zero_ +
           std::chrono::duration_cast<std::chrono::milliseconds>(Now()).count();
  }

  void Advance(std::chrono::nanoseconds step) {
    now_.fetch_add(step.count(), std::memory_order_acq_rel);
  }

 private:
  std::atomic<std::int64_t> now_;
  const std::int64_t unix_millis_at_zero_;
};

}  // namespace pstrain
