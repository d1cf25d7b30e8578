#include "runtime/worker/step_loop.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/stats/phase_timer.h"
#include "runtime/worker/push/push_progress.h"

namespace pstrain {

StepLoop::StepLoop(const RoleContext& context, GrantSession& session, WorkPrefetcher& work,
                   PsClient& ps, WorkerStep& step, const FiniteCheck& check, WorkerStats& stats,
                   bool leave_out_non_finite)
    : session_(session),
      work_(work),
      ps_(ps),
      step_(step),
      check_(check),
      stats_(stats),
      leave_out_non_finite_(leave_out_non_finite),
      common_stats_(context.stats),
      fields_(context.job.fields),
      calls_(context, session, ps, stats, abandoned_) {}

Status StepLoop::Run() {
  common_stats_.ready->Set(1);
  {
    const std::jthread pull([this] { PullStage(); });
    const std::jthread push([this] { PushStage(); });
    ComputeStage();
  }
  PublishTraffic();
  const MutexLock lock(mutex_);
  return status_;
}

void StepLoop::Abandon(Status status) {
  {
    const MutexLock lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
  abandoned_ = true;
  session_.GiveBackAll();  // also ends the wait for work
  permits_.Stop();
  pulled_.Stop();
  computed_.Stop();
}

void StepLoop::PullStage() {
  while (!abandoned_ && permits_.Push(true)) {
    Result<std::optional<ReadyWork>> work = work_.Next();
    if (!work.ok()) return Abandon(work.status());
    if (!*work) break;
    Step step;
    step.work = std::move(**work);
    step.begin = SteadyNow();
    PhaseTimer timer;
    const Result<Outcome> pulled = calls_.Pull(step.work.grant, step.work.routed, &step.pulled);
    timer.Charge(stats_.pull_seconds);
    if (!pulled.ok() || *pulled == Outcome::kGivenUp) return Abandon(pulled.status());
    if (*pulled == Outcome::kDone) {
      pulled_.Push(std::move(step));
    } else {
      permits_.TryPop();
    }
  }
  pulled_.Close();
}

void StepLoop::ComputeStage() {
  PhaseTimer timer;
  while (std::optional<Step> step = pulled_.Pop()) {
    permits_.TryPop();
    timer.Charge(stats_.wait_seconds);
    const PreparedWork& prepared = step->work.prepared;
    step->outcome = step_.Compute(prepared, step->pulled.values);
    const Status fits = ps_.CheckUpdates(step->work.routed, step->outcome.updates);
    if (!fits.ok()) {
      return Abandon(fits.WithContext(step_.Describe(FromWire(step->work.grant.work_id()))));
    }
    const auto unfit = check_.OfStep(step->outcome, prepared.access);
    timer.Charge(stats_.compute_seconds);
    if (unfit) {
      Status judged = Judge(*unfit, *step);
      if (!judged.ok()) return Abandon(std::move(judged));
    }
    computed_.Push(*std::move(step));
  }
  computed_.Close();
}

// Work that was computed from values which are not finite is not to blame, and all work after it
// would be left out too: that fails the job in any case.
Status StepLoop::Judge(const std::string& what, Step& step) {
  const std::string batch = step_.Describe(FromWire(step.work.grant.work_id()));
  const auto source =
      check_.OfValues(step.work.prepared.access, step.pulled.values, *session_.membership());
  if (!source && leave_out_non_finite_) {
    step.left_out = true;
    step.outcome = {};
    LogWarning("worker", "a batch is left out", {{"batch", batch}, {"not_finite", what}});
    return OkStatus();
  }
  Status status = OutOfRangeError(
      source
          ? *source + " is infinite or not a number, seen in " + batch +
                WithField("; lower the learning rate of ", fields_.optimizer)
          : batch + ": " + what +
                ": infinite or not a number; correct the records, or how their features are "
                "transformed, lower the learning rate, or leave such batches out" +
                (fields_.on_non_finite.empty() ? "" : " with " + fields_.on_non_finite + ": Skip"));
  session_.Fail(status.message());
  return status;
}

void StepLoop::PushStage() {
  while (std::optional<Step> step = computed_.Pop()) {
    Report report;
    PhaseTimer timer;
    const Result<Outcome> pushed = Push(*step, &report);
    timer.Charge(stats_.push_seconds);
    if (!pushed.ok() || *pushed == Outcome::kGivenUp) return Abandon(pushed.status());
    if (*pushed == Outcome::kDone) Finish(*step, std::move(report));
    PublishTraffic();
  }
}

void StepLoop::Finish(const Step& step, Report report) {
  given_back_.Finished(FromWire(step.work.grant.work_id()));
  if (!step.left_out) report.set_loss(step.outcome.loss);
  session_.Complete(std::move(report));
  stats_.commits_reported->Add();
  stats_.steps->Add();
  const PreparedWork& prepared = step.work.prepared;
  const std::uint32_t good = prepared.records - prepared.skipped;
  stats_.records_skipped->Add(prepared.skipped);
  if (step.left_out) {
    stats_.records_non_finite->Add(good);
  } else {
    stats_.examples->Add(good);
    stats_.loss->Set(step.outcome.loss);
  }
  stats_.step_duration->Observe(SteadyNow() - step.begin);
}

Result<StepLoop::Outcome> StepLoop::Push(Step& step, Report* report) {
  const Grant& grant = step.work.grant;
  const PreparedWork& prepared = step.work.prepared;
  PushedWork batch{FromWire(grant.work_id()), prepared.records, prepared.skipped};
  if (step.left_out) batch.non_finite = batch.records - batch.skipped;
  std::vector<ShardId> lacking(grant.shards().begin(), grant.shards().end());
  // Shards that have the batch may have left it out, or may have its gradient when it is to be left
  // out now: all are to end the same way.
  if (leave_out_non_finite_) lacking.clear();
  PushProgress progress(std::move(lacking));
  PSTRAIN_ASSIGN_OR_RETURN(
      const Outcome ended,
      calls_.Push(grant, batch, step.work.routed, step.outcome.updates, &progress, report));
  if (ended == Outcome::kHasGradient) return GiveBack(step);
  if (ended != Outcome::kDone) return ended;
  const auto staleness = progress.Staleness(step.pulled.updates);
  if (staleness && !step.left_out) stats_.staleness->Observe(static_cast<double>(*staleness));
  return Outcome::kDone;
}

// Another worker has computed the batch from other values, and its result was finite. When that
// worker is there, it finishes the push, and the chief grants the batch to nobody; else the batch
// is computed once more, from newer values, and its gradient takes the place of what was left out.
Result<StepLoop::Outcome> StepLoop::GiveBack(const Step& step) {
  const WorkId work_id = FromWire(step.work.grant.work_id());
  const std::string batch = step_.Describe(work_id);
  if (given_back_.Add(work_id)) {
    LogWarning("worker", "a batch that was to be left out is given back: a shard has its gradient",
               {{"batch", batch}});
    session_.GiveBack(step.work.grant);
    return Outcome::kGivenBack;
  }
  Status status =
      OutOfRangeError(batch +
                      ": some shards have its gradient, and computed again its loss or a gradient "
                      "is infinite or not a number" +
                      WithField("; lower the learning rate of ", fields_.optimizer));
  session_.Fail(status.message());
  return status;
}

void StepLoop::PublishTraffic() {
  const PsClientStats& now = ps_.stats();
  const auto raise = [](Counter* counter, std::uint64_t value) {
    counter->Add(value - counter->Value());
  };
  raise(stats_.bytes_sent, now.bytes_sent);
  raise(stats_.bytes_received, now.bytes_received);
  raise(stats_.rows_pulled, now.rows_pulled);
  raise(stats_.rows_pushed, now.rows_pushed);
}

}  // namespace pstrain
