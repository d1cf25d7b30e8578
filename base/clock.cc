#include "base/clock.h"

namespace pstrain {

std::chrono::nanoseconds RealClock::Now() const { return SteadyNow().time_since_epoch(); }

std::int64_t RealClock::UnixMillis() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(WallNow().time_since_epoch())
      .count();
}

SteadyTime SteadyNow() { return std::chrono::steady_clock::now(); }

std::chrono::system_clock::time_point WallNow() { return std::chrono::system_clock::now(); }

}  // namespace pstrain
