#include "operator/kube/pause.h"

#include "base/clock.h"
#include "base/mutex.h"

namespace pstrain::kube {

bool RealPause::For(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  // Guards nothing: a wait needs one, and only the stop ends this wait early.
  Mutex mutex;
  CondVar stopped;
  const std::chrono::steady_clock::time_point deadline(RealClock().Now() + duration);
  const MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    if (!stopped.WaitUntil(mutex, deadline, stop)) return !stop.stop_requested();
  }
  return false;
}

}  // namespace pstrain::kube
