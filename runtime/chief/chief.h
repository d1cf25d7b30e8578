#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/freezable_clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "proto/job/fixed_fields.h"
#include "runtime/chief/checkpointing.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/chief_setup.h"
#include "runtime/chief/disk/declarations.h"
#include "runtime/chief/disk/disk_thread.h"
#include "runtime/chief/disk/end_file.h"
#include "runtime/chief/ending.h"
#include "runtime/chief/peers/evaluator_peer.h"
#include "runtime/chief/peers/grant_limit.h"
#include "runtime/chief/peers/ps_link.h"
#include "runtime/chief/peers/ps_peers.h"
#include "runtime/chief/peers/work_waiters.h"
#include "runtime/chief/peers/worker_peers.h"
#include "runtime/chief/protocol/commit_protocol.h"
#include "runtime/chief/request_checks.h"
#include "runtime/chief/run_numbers.h"
#include "runtime/cluster/role_context.h"
#include "runtime/stats/refusals.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {

/// What a chief gets from outside besides its job.
struct ChiefOptions {
  /// Outlives the chief.
  const Clock& clock;
  /// Makes the link to a ps.
  PsLinkFactory connect;
  /// Counts what peers are refused. Outlives the chief.
  Refusals& refusals;
  /// Null: no limit on grants.
  std::unique_ptr<GrantLimit> grant_limit;
  /// The number of ps that the job wants now, where that is known; called without the chief's lock.
  /// Null: it does not change.
  std::function<std::optional<std::uint32_t>()> wanted_ps;
};

/// The shell around the commit protocol and the chief's parts: it locks, lets time pass and tells
/// the parts of each other. What the parts decide and remember is theirs: PsPeers, WorkerPeers,
/// EvaluatorPeer, Checkpointing, Ending, EndFile. One mutex guards all of them; calls to ps are
/// made by links and files are touched by the disk thread, both without it. RPC methods: any
/// thread. Run: one thread.
class Chief {
 public:
  /// `context` outlives it.
  Chief(const RoleContext& context, ChiefSetup setup, ChiefOptions options);
  Chief(const Chief&) = delete;
  Chief& operator=(const Chief&) = delete;
  /// REQUIRES: no RPC method is called any more.
  ~Chief();

  /// Runs the job to its end: 0 finished, 85 drained, 86 superseded or returning to its mark, 87
  /// failed for good, else the error (exit code 1).
  Result<int> Run() PSTRAIN_EXCLUDES(mutex_);

  /// Declares variables, as Declarations::Declare: they are durable when it returns, and in the
  /// description that each worker has before it is granted anything that comes after. Waits for the
  /// disk. Any thread. UNAVAILABLE: the run ends, or this chief has ended and whether they are
  /// declared is not known.
  Status Declare(std::vector<VariableSpec> variables) PSTRAIN_EXCLUDES(mutex_);
  /// Lets who has made ChiefJob::Work::source add to it and look at what became of it: calls
  /// `change` under the chief's lock, then tells workers who wait of what there is now. Any thread.
  void ChangeWork(const std::function<void(const CommitProtocol& protocol)>& change)
      PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    change(protocol_);
    TellWaiters();
  }

  /// As Marks::Want, of work that was added by ChangeWork. Any thread.
  void WantMark(ProgramMark mark, Marks::Done done) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    checkpointing_.marks().Want(std::move(mark), std::move(done));
    changed_.NotifyAll();
  }
  /// As Marks::GiveUp; says what the mark has waited for. Any thread.
  std::string GiveUpMark() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return checkpointing_.marks().GiveUp();
  }
  /// As Marks::Keep. Any thread.
  void KeepMarks(std::optional<std::uint32_t> most) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    checkpointing_.marks().Keep(most);
  }

  /// Ends Run with this error, of which the peers do not hear: they wait for the next chief. Any
  /// thread.
  void Fail(Status status) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ending_.Fail(std::move(status));
    changed_.NotifyAll();
  }

  /// The run when this chief began: of a program that returns to a mark, with the mark's variables.
  const RunDescription& run_at_start() const { return setup_.run; }
  std::uint64_t chief_term() const { return setup_.directory.chief_term(); }
  /// Of the job: what requests may name.
  const JobBounds& bounds() const { return bounds_; }
  /// `from`: the peer's address, for the log. Errors besides the peers' own: as CheckRequest. A ps
  /// that comes while the run ends is told so: it has nothing to wait for.
  Result<RegisterPsReply> RegisterPs(const RegisterPsRequest& request, const std::string& from)
      PSTRAIN_EXCLUDES(mutex_);
  Result<HeartbeatPsReply> HeartbeatPs(const HeartbeatPsRequest& request) PSTRAIN_EXCLUDES(mutex_);
  Result<PollWorkerReply> PollWorker(const PollWorkerRequest& request, const std::string& from)
      PSTRAIN_EXCLUDES(mutex_);
  /// Calls `done`, once, when a poll of that worker may bring it what it waits for, after
  /// WorkWaiters::kLongest at the latest, or when Run returns: under the chief's lock, so it must
  /// not block or call back. Not at all when the request is refused.
  Status AwaitWork(const AwaitWorkRequest& request, WorkWaiters::Done done)
      PSTRAIN_EXCLUDES(mutex_);
  Result<PollEvaluatorReply> PollEvaluator(const PollEvaluatorRequest& request,
                                           const std::string& from) PSTRAIN_EXCLUDES(mutex_);

 private:
  Result<int> RunToEnd() PSTRAIN_EXCLUDES(mutex_);
  void Tick() PSTRAIN_REQUIRES(mutex_);
  void TellWaiters() PSTRAIN_REQUIRES(mutex_);
  void Scale(std::uint32_t ps_count) PSTRAIN_REQUIRES(mutex_);
  void ForgiveGap() PSTRAIN_REQUIRES(mutex_);
  void DrainIfToldTo() PSTRAIN_REQUIRES(mutex_);
  void CheckPatience() PSTRAIN_REQUIRES(mutex_);
  bool GrantsWait() const PSTRAIN_REQUIRES(mutex_) {
    return evaluator_.GrantsWait() || !ps_.AllInformed();
  }
  void EndIfOver() PSTRAIN_REQUIRES(mutex_);
  Ending::DrainState DrainNow() const PSTRAIN_REQUIRES(mutex_);
  void CheckSkipped() PSTRAIN_REQUIRES(mutex_);
  /// A peer has said what it says; OK: nothing is wrong with the job.
  void HearFailure(Status failure) PSTRAIN_REQUIRES(mutex_);
  void BeginRelease(bool finished) PSTRAIN_REQUIRES(mutex_);
  bool AllTold() const PSTRAIN_REQUIRES(mutex_) {
    return ps_.AllReleased() && workers_.AllToldEnd() && evaluator_.ToldEnd();
  }
  RunNumbers Numbers() const PSTRAIN_REQUIRES(mutex_);

  const RoleContext& context_;
  const ChiefSetup setup_;
  /// What replicas must have been started with, too.
  const FixedDigests job_;
  const JobBounds bounds_;
  /// Held while Tick runs.
  FreezableClock clock_;
  ChiefStats stats_;
  RuntimeStats common_stats_;
  Mutex mutex_;
  /// Notified when the job fails, when variables are declared and when Run returns.
  CondVar changed_;
  /// As setup_.run, with what was declared since.
  RunDescription run_ PSTRAIN_GUARDED_BY(mutex_);
  CommitProtocol protocol_ PSTRAIN_GUARDED_BY(mutex_);
  /// Its work ends under the lock. Stopped before the parts end.
  DiskThread disk_;
  const ChiefDependencies dependencies_;
  const std::unique_ptr<GrantLimit> grant_limit_ PSTRAIN_PT_GUARDED_BY(mutex_);
  const std::function<std::optional<std::uint32_t>()> wanted_ps_;
  Ending ending_ PSTRAIN_GUARDED_BY(mutex_);
  PsPeers ps_ PSTRAIN_GUARDED_BY(mutex_);
  WorkerPeers workers_ PSTRAIN_GUARDED_BY(mutex_);
  WorkWaiters waiters_ PSTRAIN_GUARDED_BY(mutex_);
  EvaluatorPeer evaluator_ PSTRAIN_GUARDED_BY(mutex_);
  Checkpointing checkpointing_ PSTRAIN_GUARDED_BY(mutex_);
  EndFile end_file_ PSTRAIN_GUARDED_BY(mutex_);
  Declarations declarations_ PSTRAIN_GUARDED_BY(mutex_);
  /// Run has returned.
  bool ended_ PSTRAIN_GUARDED_BY(mutex_) = false;
  /// When Tick was called last, and how long this process was paused in all.
  ProtocolTime last_tick_ PSTRAIN_GUARDED_BY(mutex_);
  std::chrono::nanoseconds gaps_ PSTRAIN_GUARDED_BY(mutex_){0};
  /// How long the run's directory has kept the disk thread waiting.
  std::chrono::nanoseconds disk_wait_ PSTRAIN_GUARDED_BY(mutex_){0};
  NumbersPublisher publisher_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
