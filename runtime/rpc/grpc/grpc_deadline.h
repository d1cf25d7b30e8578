#pragma once

#include <chrono>

#include "base/clock.h"

namespace pstrain {

/// `duration` from now, as gRPC takes deadlines: by the wall clock, to the millisecond.
inline std::chrono::system_clock::time_point GrpcDeadlineIn(std::chrono::milliseconds duration) {
  const std::chrono::milliseconds now(RealClock{}.UnixMillis());
  return std::chrono::system_clock::time_point(now + duration);
}

}  // namespace pstrain
