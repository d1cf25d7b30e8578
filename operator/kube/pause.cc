#include "operator/kube/pause.h"

#include "base/mutex.h"

namespace pstrain::kube {

bool RealPause::For(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  return PauseFor(duration, stop);
}

}  // namespace pstrain::kube
