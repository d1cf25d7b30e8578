#pragma once

#include <chrono>
#include <cstdint>

namespace pstrain {

/// The source of time, passed to whatever needs it so that tests may supply their own
/// (base/manual_clock.h). Implementations may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Time on a clock that never goes back; its zero means nothing. For durations and deadlines.
  virtual std::chrono::nanoseconds Now() const = 0;

  /// Milliseconds since the Unix epoch, by the machine's wall clock, which may jump. For records.
  virtual std::int64_t UnixMillis() const = 0;
};

/// The machine's clocks: steady_clock and system_clock. Stateless.
class RealClock final : public Clock {
 public:
  std::chrono::nanoseconds Now() const override;
  std::int64_t UnixMillis() const override;
};

}  // namespace pstrain
