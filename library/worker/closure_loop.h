#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "library/worker/atomic_calls.h"
#include "library/worker/closure_order.h"
#include "library/worker/closure_pace.h"
#include "library/worker/closure_pushes.h"
#include "library/worker/closure_runner.h"
#include "proto/contract/control.pb.h"
#include "runtime/cluster/role_context.h"
#include "runtime/requests/ids.h"
#include "runtime/stats/role_stats.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/granted_calls.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/push/push_progress.h"

namespace pstrain {

/// Turns granted closures into applied ones: some threads, each of which runs a closure and pulls
/// what it reads when it reads it; what it changes is pushed when it has returned, together with
/// that of others (ClosurePushes), and reported. The next closure runs meanwhile, but what it reads
/// has the changes of all that began before it, except of as many as run beside it (ClosureOrder).
/// A closure that has failed, or that was voided, is left out on every shard
/// (PushRequest::non_finite): its work id is applied and changes nothing. Where a shard
/// has what it changes already, because another attempt has come so far, it is given back with its
/// error, to be run again: all shards are to have it or none, until the chief gives it up
/// (kLostWork). What an atomic function has come to is told to the chief first, and pushed when
/// that has decided that it counts (AtomicCalls). What a shard cannot serve yet is given back,
/// whatever the function returns. Owner: the worker.
class ClosureLoop {
 public:
  /// All outlives it.
  ClosureLoop(const RoleContext& context, GrantSession& session, PsClient& ps,
              ClosureRunner& runner, WorkerStats& stats)
      : session_(session),
        ps_(ps),
        runner_(runner),
        stats_(stats),
        calls_(context, session, ps, stats, abandoned_) {}

  /// Runs `threads` closures at a time, `window` granted ones at most, until the session gives no
  /// more grants and what was begun is finished or given up. The error of a ps that refuses a
  /// request. Once.
  Status Run(std::uint32_t threads, std::uint32_t window);

  /// Pushes that wait or are under way. Any thread; for tests.
  std::size_t pushes_in_flight() const PSTRAIN_EXCLUDES(mutex_);

 private:
  class Reads;
  using Ending = GrantedCalls::Ending;

  void Work() PSTRAIN_EXCLUDES(mutex_);
  /// Nothing: it is pushed in the background, and ends there.
  std::optional<Result<Ending>> Do(const Grant& grant, std::uint64_t place);
  /// As Do, of what may be pushed in the background.
  std::optional<Result<Ending>> RunIt(const Grant& grant, std::uint64_t place);
  /// The newest description that the session has, told to runner and client once.
  Status TellOfVariables() PSTRAIN_EXCLUDES(mutex_);
  /// Where what it changes lies. Not OK: the function has failed, or what it returns or changes
  /// cannot be sent.
  Result<RoutedPlan> PlanOf(const ClosureOutcome& outcome) const;
  ClosurePushes& pushes() const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return *pushes_;
  }
  AtomicCalls& atomic() const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return *atomic_;
  }

  // closure_loop_atomic.cc
  /// For the chief. RESOURCE_EXHAUSTED: it is more than an atomic function may come to.
  static Result<std::string> PreparedOf(const ClosureOutcome& outcome);
  /// What the chief has decided of a call that has returned.
  void Decided(ClosurePushes::Closure call, const std::optional<std::string>& instead)
      PSTRAIN_EXCLUDES(mutex_);
  /// Pushes in the background what an attempt has come to; else as Do: it cannot be read.
  std::optional<Result<Ending>> PushPrepared(const Grant& grant, const std::string& prepared,
                                             std::uint64_t place) PSTRAIN_EXCLUDES(mutex_);

  /// Reports what a function that may change nothing has come to (closure_loop_read_only.cc).
  Ending ReportReadOnly(const Grant& grant, ClosureOutcome outcome);
  static void SetError(const Status& status, ProgramError* error);

  /// To every shard, and reports it; waits.
  Result<Ending> Push(const Grant& grant, const ClosureOutcome& outcome, const RoutedPlan& plan);
  /// The same of a closure that changes nothing, and why not.
  Result<Ending> LeaveOut(const Grant& grant, const Status& why);
  /// The same of one that was given up: a shard that has what it changes keeps that.
  Result<Ending> LeaveOutWhereItIsLacking(const Grant& grant);
  /// Its function has failed, and shards have what another attempt changes.
  Ending GiveBackFailed(const Grant& grant, const Status& why);
  /// To every shard; waits.
  Result<Ending> PushToAll(const Grant& grant, const PushedWork& closure, const RoutedPlan& plan,
                           const StepUpdates& updates, PushProgress* progress, Report* report)
      PSTRAIN_EXCLUDES(mutex_);
  void Finish(std::vector<Report> reports);
  /// Ends all threads without finishing what is under way; the first error is Run's.
  void Abandon(Status status) PSTRAIN_EXCLUDES(mutex_);

  GrantSession& session_;
  PsClient& ps_;
  ClosureRunner& runner_;
  WorkerStats& stats_;
  std::atomic<bool> abandoned_{false};
  GrantedCalls calls_;
  ClosureOrder order_;
  std::uint32_t threads_ = 0;  // of Run
  mutable Mutex mutex_;
  /// While Run is.
  ClosurePushes* pushes_ PSTRAIN_GUARDED_BY(mutex_) = nullptr;
  AtomicCalls* atomic_ PSTRAIN_GUARDED_BY(mutex_) = nullptr;
  std::size_t waited_for_ PSTRAIN_GUARDED_BY(mutex_) = 0;  // pushes of threads that wait for them
  Status status_ PSTRAIN_GUARDED_BY(mutex_);
  std::shared_ptr<const RunDescription> run_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
