#include "runtime/chief/chief.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr std::chrono::milliseconds kTick{20};

Ending::Limits LimitsOf(const RoleContext& context) {
  const Training& training = context.training();
  return {.peers = seconds(training.peer_timeout_seconds()),
          .grace = context.grace,
          .evaluation = seconds(training.evaluation().deadline_seconds())};
}

std::optional<CheckpointId> IdOf(const std::optional<GoodCheckpoint>& checkpoint) {
  return checkpoint ? std::optional(checkpoint->id) : std::nullopt;
}

JobBounds BoundsOf(const RoleContext& context, const ChiefSetup& setup) {
  return {.shards = setup.run.shards(),
          .workers = context.most_workers,
          .chief_term = setup.directory.chief_term(),
          .has_evaluator = context.job.spec().replica_specs().evaluator().replicas() > 0};
}

/// Links whose `done`s run under the chief's lock.
PsPeers::Connect ConnectLocked(PsLinkFactory connect, Mutex& mutex) {
  const RunLocked run_locked = [&mutex](const std::function<void()>& done) {
    const MutexLock lock(mutex);
    done();
  };
  return [connect = std::move(connect), run_locked](const std::string& address) {
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

}  // namespace

Chief::Chief(const RoleContext& context, ChiefSetup setup, ChiefOptions options)
    : context_(context),
      setup_(std::move(setup)),
      bounds_(BoundsOf(context, setup_)),
      clock_(options.clock),
      stats_(context.stats),
      common_stats_(context.stats),
      protocol_(MakeProtocolOptions(context, setup_, clock_.Now())),
      dependencies_{context_, setup_, clock_, stats_, protocol_, options.refusals},
      grant_limit_(std::move(options.grant_limit)),
      ending_(LimitsOf(context), setup_.directory, clock_),
      ps_(dependencies_, ConnectLocked(std::move(options.connect), mutex_),
          FailThrough(ending_, changed_)),
      workers_(dependencies_, grant_limit_.get()),
      evaluator_(dependencies_, IdOf(setup_.checkpoint)),
      checkpointing_(dependencies_, ps_, evaluator_),
      publisher_(stats_) {
  if (chief_term() > 1) stats_.chief_recoveries->Add();
}

Chief::~Chief() {
  // The threads of the links call back into the parts: they end before the parts do. The lock is
  // released before the links are destroyed, which wait for calls that take it.
  std::vector<std::unique_ptr<PsLink>> links;
  const MutexLock lock(mutex_);
  links = ps_.TakeAll();
}

Result<int> Chief::Run() {
  common_stats_.ready->Set(1);
  while (true) {
    // Destroyed without the lock: their destructors wait for calls that are being cancelled.
    std::vector<std::unique_ptr<PsLink>> retired;
    const MutexLock lock(mutex_);
    if (!ending_.failure()) changed_.WaitFor(mutex_, kTick);
    Tick();
    if (ending_.failure()) return *ending_.failure();
    if (ending_.releasing() && ending_.ReleaseOver(AllTold())) {
      return ending_.finished() ? kExitSuccess : kExitDrained;
    }
    if (ending_.Superseded()) {
      LogWarning("chief", "a newer chief has taken over");
      return kExitDrained;
    }
    retired = ps_.TakeRetired();
  }
}

void Chief::Tick() {
  protocol_.Tick(clock_.Now());
  if (grant_limit_) grant_limit_->Refresh();
  ps_.Expire();
  if (!ending_.releasing()) workers_.Expire();
  ps_.Dispatch();
  checkpointing_.Finish();
  publisher_.Publish(Numbers());
  if (ending_.releasing()) return;
  DrainIfToldTo();
  evaluator_.CheckRestored(checkpointing_.newest(), checkpointing_.placed() > 0);
  CheckPatience();
  if (checkpointing_.Due()) checkpointing_.Start();
  if (Status failure = checkpointing_.Failure(); !failure.ok()) {
    ending_.Fail(std::move(failure));
  } else {
    EndIfOver();
  }
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
                         .all_shards_active = protocol_.AllActive()});
}

Ending::DrainState Chief::DrainNow() const {
  return {.quiet = protocol_.Drained() && !checkpointing_.in_progress(),
          .covered = checkpointing_.Covered(),
          .uncoverable = !protocol_.AllActive() && !protocol_.joining(),
          .evaluated = evaluator_.Done(checkpointing_.newest()),
          .evaluator_silent = evaluator_.SilentFor(kReleasePatience)};
}

void Chief::EndIfOver() {
  const bool evaluated = evaluator_.Done(checkpointing_.newest());
  if (ending_.RunOver(checkpointing_.final_since(), evaluated)) {
    Status written = setup_.directory.WriteResult(ResultJson(Numbers()));
    if (!written.ok()) return ending_.Fail(std::move(written));
    if (!evaluated) {
      LogWarning("chief",
                 "no final evaluation came within spec.training.evaluation.deadlineSeconds");
    }
    BeginRelease(true);
  } else if (ending_.DrainOver(DrainNow())) {
    const Status written = setup_.directory.WriteStopped(ResultJson(Numbers()));
    if (!written.ok()) LogWarning("chief", "stopped.json not written", {{"error", written}});
    BeginRelease(false);
  }
}

void Chief::BeginRelease(bool finished) {
  ending_.BeginRelease(finished);
  ps_.ReleaseAll(finished);
  LogInfo("chief", finished ? "the run is finished" : "drained; all are released");
}

bool Chief::AllTold() const {
  return ps_.AllReleased() && workers_.AllToldEnd() && evaluator_.ToldEnd();
}

RunNumbers Chief::Numbers() const {
  RunNumbers numbers;
  numbers.progress = protocol_.Progress();
  numbers.all_active = protocol_.AllActive();
  numbers.batches_per_epoch = setup_.run.batches_per_epoch();
  numbers.membership = protocol_.membership().number;
  numbers.chief_term = chief_term();
  numbers.newest_checkpoint = checkpointing_.newest();
  if (const auto& final_manifest = checkpointing_.final_manifest()) {
    numbers.final_examples = final_manifest->examples_committed();
  }
  numbers.checkpoints_placed = checkpointing_.placed();
  numbers.applied = checkpointing_.applied();
  numbers.loss = workers_.loss();
  numbers.restored_loss = evaluator_.restored_loss();
  numbers.metrics = evaluator_.metrics();
  return numbers;
}

Result<RegisterPsReply> Chief::RegisterPs(const RegisterPsRequest& request,
                                          const std::string& from) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<ShardCopy> copies, AllFromWire<ShardCopy>(request.held()));
  const MutexLock lock(mutex_);
  if (ending_.releasing()) return UnavailableError("the run is ending");
  return ps_.Register(request, std::move(copies), from);
}

Result<HeartbeatPsReply> Chief::HeartbeatPs(const HeartbeatPsRequest& request) {
  const MutexLock lock(mutex_);
  return ps_.Heartbeat(request);
}

Result<PollWorkerReply> Chief::PollWorker(const PollWorkerRequest& request,
                                          const std::string& from) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  const MutexLock lock(mutex_);
  PSTRAIN_RETURN_IF_ERROR(workers_.CheckAttempt(request, from));
  return workers_.Poll(request,
                       {.releasing = ending_.releasing(),
                        .finished = ending_.finished(),
                        .grants_wait = evaluator_.GrantsWait()},
                       from);
}

Result<PollEvaluatorReply> Chief::PollEvaluator(const PollEvaluatorRequest& request,
                                                const std::string& from) {
  PSTRAIN_RETURN_IF_ERROR(CheckRequest(request, bounds_));
  const MutexLock lock(mutex_);
  return evaluator_.Poll(request,
                         {.releasing = ending_.releasing(),
                          .finished = ending_.finished(),
                          .newest = checkpointing_.newest()},
                         from);
}

}  // namespace pstrain
