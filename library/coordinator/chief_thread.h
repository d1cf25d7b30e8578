#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"
#include "library/coordinator/closure_queue.h"
#include "runtime/chief/chief_job.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// The chief of a program, as a thread beside its `main`: it works on what the queue has, and the
/// queue hears how the run ends. Owner: whoever starts the roles; its thread makes and destroys it.
class ChiefThread {
 public:
  /// Starts it. The context and `queue` outlive it. `job` has no work of its own: that is the
  /// queue's. `ended`: called by the thread, last.
  ChiefThread(const RoleContext& context, ChiefJob job, ClosureQueue& queue,
              std::function<void()> ended);
  ChiefThread(const ChiefThread&) = delete;
  ChiefThread& operator=(const ChiefThread&) = delete;
  /// Waits.
  ~ChiefThread();

  /// The run fails with this; the first one counts. Who waits for the queue hears of it. Any
  /// thread.
  void NoteFailure(const Status& status) PSTRAIN_EXCLUDES(mutex_);
  /// Until it has ended: the run's exit code, or why it has failed.
  Result<int> Wait() PSTRAIN_EXCLUDES(mutex_);
  /// What RunChief has returned; nothing before it has. Any thread.
  std::optional<Result<int>> returned() const PSTRAIN_EXCLUDES(mutex_);
  /// It has served peers, and not only looked at a run that is finished. Any thread.
  bool served() const PSTRAIN_EXCLUDES(mutex_);

 private:
  ChiefJob WithTheQueue(ChiefJob job);
  void Run() PSTRAIN_EXCLUDES(mutex_);

  RoleContext context_;
  ClosureQueue& queue_;
  const ChiefJob job_;
  const std::function<void()> ended_;
  mutable Mutex mutex_;
  Status failure_ PSTRAIN_GUARDED_BY(mutex_);
  bool served_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::optional<Result<int>> returned_ PSTRAIN_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace pstrain
