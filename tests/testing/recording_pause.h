#pragma once

#include <chrono>
#include <stop_token>
#include <vector>

#include "base/mutex.h"
#include "operator/kube/pause.h"

namespace pstrain::testing {

/// A Pause that does not wait but remembers what it was asked for. Any thread.
class RecordingPause final : public kube::Pause {
 public:
  bool For(std::chrono::nanoseconds duration, const std::stop_token& stop) override {
    const MutexLock lock(mutex_);
    pauses_.push_back(duration);
    return !stop.stop_requested();
  }

  std::vector<std::chrono::nanoseconds> pauses() const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return pauses_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::chrono::nanoseconds> pauses_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::testing
