#include "base/clock.h"

namespace pstrain {

std::chrono::nanoseconds RealClock::Now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::int64_t RealClock::UnixMillis() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

}  // namespace pstrain
