// The part of ClosureQueue that marks are made and returned to by.
#include <string>
#include <thread>
#include <utility>

#include "library/coordinator/closure_queue.h"
#include "runtime/chief/chief.h"

namespace pstrain {

// Before the chief serves, and asks the source for anything.
void ClosureQueue::Returned(const ProgramMark& mark) {
  source_->BeginAt(mark.next_id());
  const MutexLock lock(mutex_);
  mark_ = mark;
  next_ = mark.next_id();
  calls_ = mark.next_id();
  succeeded_ = mark.succeeded();
  failed_ = mark.failed();
  repairs_.Restore(mark.lost());
  beginning_ = Beginning::kAwaited;
}

std::optional<ProgramMark> ClosureQueue::mark() const {
  const MutexLock lock(mutex_);
  return mark_;
}

Status ClosureQueue::CheckOrder() {
  if (closed_) return FailedPreconditionError("the program has finished");
  if (beginning_ == Beginning::kAwaited) {
    return FailedPreconditionError(
        (mark_ ? "the run goes on from its mark " + std::to_string(mark_->mark())
               : std::string("the program has a CheckpointManager")) +
        "; call CheckpointManager::RestoreOrInitialize before anything is scheduled or assigned");
  }
  if (!thread_ || *thread_ == std::this_thread::get_id()) return OkStatus();
  return FailedPreconditionError(
      "another thread has scheduled before; only one thread may schedule, so that the order of "
      "the program's work is that of its calls");
}

Status ClosureQueue::AwaitBegin() {
  const MutexLock lock(mutex_);
  if (ended_) return *ended_;
  if (has_manager_) return FailedPreconditionError("the program has a CheckpointManager already");
  if (thread_ || closed_) {
    return FailedPreconditionError(
        "a CheckpointManager is made before the first call is scheduled or variable assigned");
  }
  has_manager_ = true;
  beginning_ = Beginning::kAwaited;
  return OkStatus();
}

Status ClosureQueue::Begin() {
  const MutexLock lock(mutex_);
  if (ended_) return *ended_;
  if (beginning_ == Beginning::kDone) {
    return FailedPreconditionError("CheckpointManager::RestoreOrInitialize was called before");
  }
  beginning_ = Beginning::kDone;
  thread_ = std::this_thread::get_id();
  return OkStatus();
}

// Under the chief's lock, so that the numbers are of one moment. What `outcome` points to outlives
// a caller that does not wait to the end.
Status ClosureQueue::WantMark(ProgramMark mark, std::shared_ptr<std::optional<Status>> outcome) {
  {
    const MutexLock lock(mutex_);
    mark.set_next_id(next_);
    mark.set_succeeded(succeeded_);
    mark.set_failed(failed_);
    mark.set_lost(repairs_.lost());
  }
  return WithChief([&](Chief& chief) {
    chief.WantMark(std::move(mark), [this, outcome](const Status& status) {
      const MutexLock lock(mutex_);
      *outcome = status;
      changed_.NotifyAll();
    });
    return OkStatus();
  });
}

Status ClosureQueue::SaveMark(const std::function<ProgramMark()>& make, SteadyTime deadline) {
  {
    const MutexLock lock(mutex_);
    PSTRAIN_RETURN_IF_ERROR(CheckOrder());
  }
  PSTRAIN_RETURN_IF_ERROR(Join(deadline));
  ProgramMark mark = make();
  const std::string name = "mark " + std::to_string(mark.mark());
  const auto outcome = std::make_shared<std::optional<Status>>();
  PSTRAIN_RETURN_IF_ERROR(WantMark(std::move(mark), outcome));
  {
    const MutexLock lock(mutex_);
    while (!*outcome && !ended_) {
      if (!changed_.WaitUntil(mutex_, deadline)) break;
    }
    if (*outcome) return (*outcome)->WithContext(name);
    if (ended_) return *ended_;
  }
  std::string waits;
  PSTRAIN_RETURN_IF_ERROR(WithChief([&](Chief& chief) {
    waits = chief.GiveUpMark();
    return OkStatus();
  }));
  const MutexLock lock(mutex_);
  if (*outcome) return (*outcome)->WithContext(name);
  return DeadlineExceededError(name + " is not in place: " + waits);
}

}  // namespace pstrain
