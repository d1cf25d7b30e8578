#include "runtime/chief/chief.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/seconds.h"
#include "proto/contract/exit_codes.h"
#include "runtime/chief/peers/peer_failures.h"
#include "runtime/cluster/permanent_failure.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr std::chrono::milliseconds kTick{20};
/// Longer between two ticks than any load of the machine makes it: this process was paused.
constexpr seconds kGap{2};

Ending::Limits LimitsOf(const RoleContext& context, const ChiefJob& job) {
  return {.peers = context.peer_timeout(),
          .peers_field = context.job.fields.peer_timeout,
          .grace = context.grace,
          .evaluation = job.evaluation_deadline.value_or(seconds(0))};
}

std::optional<CheckpointId> IdOf(const std::optional<GoodCheckpoint>& checkpoint) {
  return checkpoint ? std::optional(checkpoint->id) : std::nullopt;
}

JobBounds BoundsOf(const RoleContext& context, const ChiefSetup& setup) {
  return {.shards = setup.run.shards(),
          .workers = context.most_workers,
          .chief_term = setup.directory.chief_term(),
          .has_evaluator = context.job.spec.replica_specs().evaluator().replicas() > 0};
}

RunLocked RunUnder(Mutex& mutex) {
  return [&mutex](const std::function<void()>& done) {
    const MutexLock lock(mutex);
    done();
  };
}

/// Links whose `done`s run under the chief's lock.
PsPeers::Connect ConnectLocked(PsLinkFactory connect, Mutex& mutex) {
  return [connect = std::move(connect), run_locked = RunUnder(mutex)](const std::string& address) {
    return connect(address, run_locked);
  };
}

/// What a part calls, under the chief's lock, to end the job.
std::function<void(Status)> FailThrough(Ending& ending, CondVar& changed) {
  return [&ending, &changed](Status status) {
    ending.Fail(std::move(status));
    changed.NotifyAll();
  };
}

/// The answer to a replica that was started with another job; nothing to one that was not. Errors:
/// CheckShownJob.
template <typename Reply, typename Request>
Result<std::optional<Reply>> RefusalOf(const Request& request, bool known, const FixedDigests& job,
                                       const std::string& from, Refusals& refusals) {
  PSTRAIN_RETURN_IF_ERROR(CheckShownJob(request.job()));
  const Status same = CheckSameJob({request.job().begin(), request.job().end()}, known, job);
  if (same.ok()) return std::optional<Reply>();
  refusals.Count(RefusalReason::kOutdated, from,
                 same.WithContext("a replica that was started with another job"));
  Reply reply;
  reply.set_refused(same.message());
  return std::optional<Reply>(std::move(reply));
}

}  // namespace

Chief::Chief(const RoleContext& context, ChiefSetup setup, ChiefOptions options)
    : context_(context),
      setup_(std::move(setup)),
      job_(DigestsOf(context.job)),
      bounds_(BoundsOf(context, setup_)),
      clock_(options.clock),
      stats_(context.stats),
      common_stats_(context.stats),
      run_(setup_.run),
      protocol_(MakeProtocolOptions(context, setup_, clock_.Now())),
      disk_(RunUnder(mutex_), options.clock, context.end),
      dependencies_{context_, setup_, run_, clock_, stats_, protocol_, disk_, options.refusals},
      grant_limit_(std::move(options.grant_limit)),
      wanted_ps_(std::move(options.wanted_ps)),
      ending_(LimitsOf(context, setup_.job), setup_.directory, disk_, clock_),
      ps_(dependencies_, ConnectLocked(std::move(options.connect), mutex_),
          FailThrough(ending_, changed_)),
      workers_(dependencies_, ps_, grant_limit_.get(), FailThrough(ending_, changed_)),
      evaluator_(dependencies_, IdOf(setup_.checkpoint)),
      checkpointing_(dependencies_, ps_, evaluator_),
      end_file_(dependencies_),
      declarations_(dependencies_, run_, [this]() PSTRAIN_REQUIRES(mutex_) { ps_.Dispatch(); }),
      last_tick_(clock_.Now()),
      publisher_(stats_) {
  if (chief_term() > 1) stats_.chief_recoveries->Add();
}

Chief::~Chief() {
  // The threads of the disk and of the links call back into the parts: they end before the parts
  // do. The lock is released before the links are destroyed, which wait for calls that take it.
  disk_.Stop();
  std::vector<std::unique_ptr<PsLink>> links;
  const MutexLock lock(mutex_);
  links = ps_.TakeAll();
}

// Calls that wait would keep the server from shutting down.
Result<int> Chief::Run() {
  Result<int> outcome = RunToEnd();
  std::optional<Status> failure;
  {
    const MutexLock lock(mutex_);
    waiters_.Close();
    ended_ = true;
    changed_.NotifyAll();
    failure = ending_.failure();
  }
  if (!outcome.ok() || *outcome != kExitPermanent) return outcome;
  return IsInvalidInput(*failure) ? EndForInvalidInput(context_, *failure)
                                  : EndForGood(context_, *failure);
}

Result<int> Chief::RunToEnd() {
  common_stats_.ready->Set(1);
  while (true) {
    // Destroyed without the lock: their destructors wait for calls that are being cancelled.
    std::vector<std::unique_ptr<PsLink>> retired;
    const std::optional<std::uint32_t> ps_count = wanted_ps_ ? wanted_ps_() : std::nullopt;
    const MutexLock lock(mutex_);
    if (ps_count) Scale(*ps_count);
    if (!ending_.failure() || ending_.releasing()) changed_.WaitFor(mutex_, kTick);
    Tick();
    // Nobody is to wait for a chief that will not come back.
    if (ending_.failed_for_good() && !ending_.releasing()) BeginRelease(false);
    const bool failed = ending_.failure() && !ending_.failed_for_good();
    if (!failed && ending_.releasing() && ending_.ReleaseOver(AllTold())) {
      // The log has the reason already.
      if (ending_.failed_for_good()) return kExitPermanent;
      return ending_.finished() ? kExitSuccess : kExitDrained;
    }
    if (ending_.Superseded() || ps_.superseded() || workers_.superseded() ||
        end_file_.superseded() || declarations_.superseded() || evaluator_.superseded()) {
      LogWarning("chief", "another chief has taken over");
      return kExitDisrupted;
    }
    if (ps_.returns_to_mark() || workers_.returns_to_mark()) return kExitDisrupted;
    // Last: that its peers have gone to the next chief is no failure of the job.
    if (failed) return *ending_.failure();
    retired = ps_.TakeRetired();
  }
}

// A process that was stopped (SIGSTOP, a paused VM) finds all others silent when it goes on, though
// they called all the time. Nobody counts as lost for that.
void Chief::ForgiveGap() {
  const ProtocolTime now = clock_.Now();
  const std::chrono::nanoseconds gap = now - std::exchange(last_tick_, now);
  if (gap < kGap) return;
  LogWarning("chief", "this process was paused; the deadlines of all peers are extended",
             {{"seconds", InSeconds(gap)}});
  gaps_ += gap;
  ps_.ForgiveGap(gap);
  workers_.ForgiveGap(gap);
  evaluator_.ForgiveGap(gap);
  checkpointing_.ForgiveGap(gap);
  ending_.ForgiveGap(gap);
}

// All by one time: what the process stands still while this runs is a gap of the next tick.
void Chief::Tick() {
  const FreezableClock::Freeze now(clock_);
  ForgiveGap();
  protocol_.Tick(clock_.Now() - gaps_);
  if (grant_limit_) grant_limit_->Refresh(disk_);
  ps_.Expire();
  ps_.Retry();
  if (!ending_.releasing()) workers_.Expire(evaluator_.GrantsWait());
  ps_.Dispatch();
  ps_.WatchInformed();
  checkpointing_.Finish();
  checkpointing_.Watch();
  disk_wait_ = disk_.Watch();
  publisher_.Publish(Numbers());
  TellWaiters();
  CheckSkipped();
  if (ending_.releasing() || ending_.failure()) return;
  DrainIfToldTo();
  evaluator_.CheckRestored(checkpointing_.newest(), checkpointing_.placed() > 0);
  evaluator_.scores().Watch();
  CheckPatience();
  if (checkpointing_.Due()) checkpointing_.Start();
  EndIfOver();
}

void Chief::TellWaiters() {
  WorkWaiters::News news{.ending = ending_.releasing(), .membership = workers_.MembershipNumber()};
  if (!GrantsWait()) workers_.TellOfWork(&news);
  waiters_.Tell(news, clock_.Now());
}

// The actions of it are taken out by the next Tick, like those of every event.
void Chief::Scale(std::uint32_t ps_count) {
  if (ps_count == protocol_.ps_count()) return;
  LogInfo("chief", "the number of ps changes: shards move to their new homes",
          {{"ps", ps_count}, {"before", protocol_.ps_count()}});
  protocol_.SetPsCount(ps_count, HomesOfShards(context_, setup_, ps_count));
}

void Chief::DrainIfToldTo() {
  if (!context_.stop.stop_requested() || protocol_.draining()) return;
  LogInfo("chief", "told to stop: no more grants");
  protocol_.Drain();
  ending_.BeginDrain();
}

void Chief::CheckPatience() {
  if (checkpointing_.final_manifest() || protocol_.draining()) return ending_.RenewPatience();
  ending_.CheckPatience({.missing_ps = ps_.Missing(),
                         .any_worker = !workers_.empty(),
                         .all_shards_active = protocol_.AllActive(),
                         .problem = ps_.problem(),
                         .lost_workers = workers_.Lost()});
}

Ending::DrainState Chief::DrainNow() const {
  return {.quiet = protocol_.Drained() && !checkpointing_.in_progress(),
          .covered = checkpointing_.Covered(),
          .uncoverable = !protocol_.AllActive() && !protocol_.joining(),
          .evaluated = evaluator_.Done(checkpointing_.newest()),
          .evaluator_silent = evaluator_.SilentFor(kReleasePatience)};
}

// Told to stop, the chief waits for no file that a disk keeps from it: a result that is not there
// is written by the next chief.
void Chief::EndIfOver() {
  const bool evaluated = evaluator_.Done(checkpointing_.newest());
  const bool finished = ending_.RunOver(checkpointing_.final_since(), evaluated);
  if (!finished && !ending_.DrainOver(DrainNow())) return;
  if (end_file_.superseded()) return;  // RunToEnd ends with that
  if (ending_.TimeIsOut()) return BeginRelease(false);
  end_file_.Write(finished, [this]() PSTRAIN_REQUIRES(mutex_) { return ResultJson(Numbers()); });
  if (!end_file_.Done(finished)) return;
  if (finished && !evaluated) evaluator_.SayFinalGivenUp();
  BeginRelease(finished);
}

void Chief::BeginRelease(bool finished) {
  ending_.BeginRelease(finished);
  ps_.ReleaseAll(finished);
  LogInfo("chief", finished            ? "the run is finished"
                   : ending_.failure() ? "all are released"
                                       : "drained; all are released");
}

RunNumbers Chief::Numbers() const {
  RunNumbers numbers;
  numbers.progress = protocol_.Progress();
  numbers.all_active = protocol_.AllActive();
  numbers.batches_per_epoch = setup_.run.batches_per_epoch();
  numbers.membership = protocol_.membership().number;
  numbers.chief_term = chief_term();
  numbers.newest_checkpoint = checkpointing_.newest();
  if (checkpointing_.final_manifest())
    numbers.final_examples = checkpointing_.final_manifest()->examples_committed();
  numbers.checkpoints_placed = checkpointing_.placed();
  numbers.checkpoint_problem = checkpointing_.problem();
  end_file_.Report(numbers.checkpoint_problem);
  numbers.disk_wait = disk_wait_;
  numbers.waiting = std::max(ending_.waiting(), evaluator_.WaitedForRestored());
  numbers.batches_reopened = checkpointing_.BatchesReopened();
  numbers.applied = checkpointing_.applied();
  if (setup_.job.starts_over) numbers.updates_lost = setup_.lost() + stats_.updates_lost->Value();
  numbers.loss = workers_.loss();
  evaluator_.Report(numbers);
  numbers.evaluation = setup_.job.evaluation_digest;
  return numbers;
}

// Counted by the shards, in the newest checkpoint: the final one has all of them.
void Chief::CheckSkipped() {
  if (!checkpointing_.newest()) return;
  const AppliedCounts& applied = checkpointing_.applied();
  HearFailure(setup_.work.check_left_out(applied.epochs_begun,
                                         static_cast<std::uint64_t>(applied.skipped)));
}

void Chief::HearFailure(Status failure) {
  if (failure.ok() || ending_.releasing()) return;
  ending_.FailForGood(std::move(failure));
  changed_.NotifyAll();
}

Result<RegisterPsReply> Chief::RegisterPs(const RegisterPsRequest& request,
                                          const std::string& from) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  PSTRAIN_ASSIGN_OR_RETURN(
      auto refusal, RefusalOf<RegisterPsReply>(request, false, job_, from, dependencies_.refusals));
  if (refusal) return *std::move(refusal);
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<ShardCopy> copies, AllFromWire<ShardCopy>(request.copies()));
  const MutexLock lock(mutex_);
  if (ending_.releasing()) {
    RegisterPsReply reply;
    reply.set_chief_term(chief_term());
    reply.set_directive(ending_.finished() ? FINISH : DRAIN);
    return reply;
  }
  return ps_.Register(request, std::move(copies), from);
}

Result<HeartbeatPsReply> Chief::HeartbeatPs(const HeartbeatPsRequest& request) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  const MutexLock lock(mutex_);
  HeartbeatPsReply reply = ps_.Heartbeat(request);
  if (reply.known()) HearFailure(FailureOf(request));
  return reply;
}

Result<PollWorkerReply> Chief::PollWorker(const PollWorkerRequest& request,
                                          const std::string& from) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  const MutexLock lock(mutex_);
  PSTRAIN_ASSIGN_OR_RETURN(auto refusal,
                           RefusalOf<PollWorkerReply>(request, workers_.Knows(request), job_, from,
                                                      dependencies_.refusals));
  if (refusal) return *std::move(refusal);
  PSTRAIN_RETURN_IF_ERROR(workers_.CheckAttempt(request, from));
  PSTRAIN_RETURN_IF_ERROR(workers_.CheckChief(request));
  PollWorkerReply reply = workers_.Poll(request,
                                        {.releasing = ending_.releasing(),
                                         .finished = ending_.finished(),
                                         .grants_wait = GrantsWait()},
                                        from);
  if (reply.directive() != REPLACED) HearFailure(FailureOf(request));
  // What it has given back may be for others.
  TellWaiters();
  return reply;
}

Status Chief::Declare(std::vector<VariableSpec> variables) {
  // Shared: when the wait ends first, what was posted has somewhere to answer to.
  const auto outcome = std::make_shared<std::optional<Status>>();
  const MutexLock lock(mutex_);
  if (ended_ || ending_.releasing() || checkpointing_.ends_run()) {
    return UnavailableError("the run ends: nothing can be declared any more");
  }
  declarations_.Declare(std::move(variables), [this, outcome](const Status& status) {
    *outcome = status;
    changed_.NotifyAll();
  });
  while (!*outcome && !ended_) changed_.Wait(mutex_);
  return *outcome ? **outcome
                  : UnavailableError("this chief has ended before it has declared the variables");
}

Status Chief::AwaitWork(const AwaitWorkRequest& request, WorkWaiters::Done done) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  const MutexLock lock(mutex_);
  waiters_.Add(request, clock_.Now(), std::move(done));
  TellWaiters();
  return OkStatus();
}

Result<PollEvaluatorReply> Chief::PollEvaluator(const PollEvaluatorRequest& request,
                                                const std::string& from) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  // Nothing tells its first poll from later ones: it shows its job in each.
  PSTRAIN_ASSIGN_OR_RETURN(auto refusal, RefusalOf<PollEvaluatorReply>(request, false, job_, from,
                                                                       dependencies_.refusals));
  if (refusal) return *std::move(refusal);
  const MutexLock lock(mutex_);
  PSTRAIN_RETURN_IF_ERROR(evaluator_.CheckAttempt(request, from));
  PollEvaluatorReply reply = evaluator_.Poll(request,
                                             {.releasing = ending_.releasing(),
                                              .finished = ending_.finished(),
                                              .newest = checkpointing_.newest()},
                                             from);
  if (reply.directive() != REPLACED) HearFailure(FailureOf(request));
  return reply;
}

}  // namespace pstrain
