#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/os/file_faults.h"

namespace pstrain {

/// A file system that hangs in one call until it is released. One at a time; any thread.
class HangingDisk {
 public:
  /// `call`: as ScopedFileFaults names it.
  HangingDisk(std::string call, std::string path_end)
      : call_(std::move(call)),
        path_end_(std::move(path_end)),
        faults_(
            [this](std::string_view made, const std::string& path) { return Fault(made, path); }) {}

  bool WaitUntilItHangs() PSTRAIN_EXCLUDES(mutex_) {
    const SteadyTime deadline = SteadyNow() + kLimit;
    const MutexLock lock(mutex_);
    while (!hangs_ && changed_.WaitUntil(mutex_, deadline)) {
    }
    return hangs_;
  }
  void Release() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    released_ = true;
    changed_.NotifyAll();
  }

 private:
  /// Long enough for any machine, short of the test's own limit.
  static constexpr std::chrono::seconds kLimit{60};

  int Fault(std::string_view call, const std::string& path) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (call != call_ || !path.ends_with(path_end_)) return 0;
    hangs_ = true;
    changed_.NotifyAll();
    while (!released_) changed_.Wait(mutex_);
    return 0;
  }

  const std::string call_;
  const std::string path_end_;
  Mutex mutex_;
  CondVar changed_;
  bool hangs_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool released_ PSTRAIN_GUARDED_BY(mutex_) = false;
  const ScopedFileFaults faults_;
};

}  // namespace pstrain
