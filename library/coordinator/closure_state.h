#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"

namespace pstrain {

/// What becomes of one closure: who has scheduled it waits here for what its function returns, and
/// the queue says it once. Any thread.
class ClosureState {
 public:
  /// The first one counts.
  void Set(Result<std::string> outcome) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (outcome_) return;
    outcome_ = std::move(outcome);
    changed_.NotifyAll();
  }
  /// What its function has returned, as bytes, or the error. DEADLINE_EXCEEDED: neither is known
  /// yet; it may be asked again.
  Result<std::string> Wait(SteadyTime deadline) const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (!outcome_) {
      if (!changed_.WaitUntil(mutex_, deadline)) break;
    }
    if (outcome_) return *outcome_;
    return DeadlineExceededError("the function has not ended yet");
  }
  bool known() const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return outcome_.has_value();
  }

 private:
  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::optional<Result<std::string>> outcome_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
