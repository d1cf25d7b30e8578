#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "library/worker/atomic_calls.h"
#include "library/worker/closure_order.h"
#include "library/worker/closure_pace.h"
#include "library/worker/closure_pushes.h"
#include "library/worker/closure_runner.h"
#include "library/worker/running_calls.h"
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
/// whatever the function returns. A function that is beyond its deadline, or that the chief or the
/// end of the worker does not wait for, is given up (RunningCalls): the chief grants its call again
/// at once, and nothing of what it returns is sent. One that hangs leaves its thread to it, and
/// another thread takes its place (docs/design/hung-functions.md). Owner: the worker.
class ClosureLoop {
 public:
  /// What becomes of a worker all of whose threads hang, as many as run at a time.
  enum class WhenAllHang : std::uint8_t {
    kEnd,   // Run ends, and the process with it
    kGoOn,  // others take their places: the process has other roles
  };

  /// All outlives it, but `runner`: functions that hang have that for as long as they do.
  ClosureLoop(const RoleContext& context, GrantSession& session, PsClient& ps,
              std::shared_ptr<ClosureRunner> runner, WorkerStats& stats,
              WhenAllHang when_all_hang = WhenAllHang::kEnd);

  /// Runs `threads` closures at a time, `window` granted ones at most, until the session gives no
  /// more grants and what was begun is finished or given up. The error of a ps that refuses a
  /// request. Once.
  Status Run(std::uint32_t threads, std::uint32_t window);
  /// The worker leaves: functions are told to stop, and given up after half of the grace period.
  /// Any thread.
  void Leave() { running_->Leave(leaves_within_); }
  /// Run has ended because all threads hang. Any thread.
  bool all_hang() const { return all_hang_; }
  /// Functions that hang. Any thread.
  std::size_t hanging() const { return running_->hanging(); }

  /// Pushes that wait or are under way. Any thread; for tests.
  std::size_t pushes_in_flight() const PSTRAIN_EXCLUDES(mutex_);

 private:
  class Reads;
  using Ending = GrantedCalls::Ending;

  /// Where a grant runs: its slot, and its place in the order.
  struct Place {
    RunningCalls& running;
    RunningCalls::Slot slot = 0;
    std::uint64_t number = 0;
  };

  // closure_loop_slots.cc
  /// Until all threads have ended or hang; sees to those that are given up.
  void RunSlots();
  void AddSlot();
  void GiveUp(const RunningCalls::GivenUp& given_up);
  void WriteOff(const RunningCalls::Hanging& hanging);
  /// The chief, or the end of the session, has something for functions that run.
  void Hear(const GrantSession::Told& told);
  /// The life of a slot's thread. When it has returned the loop may have gone.
  void Work(RunningCalls& running, RunningCalls::Slot slot) PSTRAIN_EXCLUDES(mutex_);

  /// Nothing: it is pushed in the background and ends there, or it was given up. Then the loop may
  /// have gone: see RunningCalls::WrittenOff first.
  std::optional<Result<Ending>> Do(const Grant& grant, const Place& place);
  /// As Do, of what may be pushed in the background.
  std::optional<Result<Ending>> RunIt(const Grant& grant, const Place& place);
  /// An attempt ends with what it reads, before its function has returned.
  void EndEarly(std::uint64_t place, const Result<Ending>& ended);
  /// As RunIt, of what its function has come to.
  std::optional<Result<Ending>> End(const Grant& grant, std::uint64_t place,
                                    ClosureOutcome outcome);
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
  const std::shared_ptr<ClosureRunner> runner_;
  WorkerStats& stats_;
  const WhenAllHang when_all_hang_;
  const std::chrono::nanoseconds leaves_within_;
  const RealClock clock_;
  const std::shared_ptr<RunningCalls> running_ = std::make_shared<RunningCalls>(clock_);
  std::atomic<bool> all_hang_{false};
  std::atomic<bool> abandoned_{false};
  GrantedCalls calls_;
  ClosureOrder order_;
  std::uint32_t threads_ = 0;  // of Run
  /// Of slots that are not written off. The thread of Run.
  std::map<RunningCalls::Slot, std::thread> slots_;
  mutable Mutex mutex_;
  /// While Run is.
  ClosurePushes* pushes_ PSTRAIN_GUARDED_BY(mutex_) = nullptr;
  AtomicCalls* atomic_ PSTRAIN_GUARDED_BY(mutex_) = nullptr;
  std::size_t waited_for_ PSTRAIN_GUARDED_BY(mutex_) = 0;  // pushes of threads that wait for them
  Status status_ PSTRAIN_GUARDED_BY(mutex_);
  std::shared_ptr<const RunDescription> run_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
