#include "operator/kube/pause.h"

#include "base/mutex.h"

namespace pstrain::kube {

bool RealPause::For(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  Mutex mutex;
  CondVar stopped;
  const std::stop_callback wake(stop, [&] {
    const MutexLock lock(mutex);
    stopped.NotifyAll();
  });
  const auto deadline = std::chrono::steady_clock::now() + duration;
  const MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    if (!stopped.WaitUntil(mutex, deadline)) return !stop.stop_requested();
  }
  return false;
}

}  // namespace pstrain::kube
