#pragma once

#include <chrono>
#include <cstdint>

namespace pstrain {

/// A point on the machine's steady clock, as the waits of base/mutex.h take it.
using SteadyTime = std::chrono::steady_clock::time_point;

/// The source of time, passed to whatever needs it so that tests may supply their own
/// (base/manual_clock.h). Implementations may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Time on a clock that never goes back; its zero means nothing. For durations and deadlines.
  virtual std::chrono::nanoseconds Now() const = 0;

  /// Now() as a time point.
  SteadyTime Steady() const { return SteadyTime(Now()); }

  /// Milliseconds since the Unix epoch, by the machine's wall clock, which may jump. For records.
  virtual std::int64_t UnixMillis() const = 0;
};

/// The machine's clocks: steady_clock and system_clock. Stateless.
class RealClock final : public Clock {
 public:
  std::chrono::nanoseconds Now() const override;
  std::int64_t UnixMillis() const override;
};

/// RealClock's time, for code whose timing no test steers: it measures durations, or waits for
/// something real with a deadline. Everything else is given a Clock. Only base/ reads the machine's
/// clocks (the test `clocks_and_mutexes`). Any thread.
SteadyTime SteadyNow();
/// The machine's wall clock, for interfaces that want a time point of it, as gRPC's deadlines do.
std::chrono::system_clock::time_point WallNow();

}  // namespace pstrain
