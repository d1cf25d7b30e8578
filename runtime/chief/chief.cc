#include "runtime/chief/chief.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.h"
#include "base/text/json.h"
#include "runtime/chief/protocol/placement.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kTick{20};
/// How long peers may take to hear that the run has ended.
constexpr seconds kReleasePatience{5};
/// Left of the grace period for the peers when a drain has to be cut short.
constexpr seconds kDrainReserve{4};
constexpr seconds kTermCheck{1};
/// How long somebody may take to show the restored loss.
constexpr seconds kAnnouncePatience{30};
/// Checkpoints that fail one after the other before the job fails: the directory is not usable.
constexpr int kCheckpointFailures = 5;

ProtocolOptions MakeProtocolOptions(const RoleContext& context, const ChiefSetup& setup) {
  const Strategy& strategy = context.job.spec().strategy();
  ProtocolOptions options;
  options.chief_term = setup.directory.chief_term();
  options.shards = setup.run.shards();
  options.epochs = static_cast<std::uint32_t>(context.training().epochs());
  options.batches_per_epoch = setup.run.batches_per_epoch();
  auto records = std::make_shared<std::vector<std::uint32_t>>();
  for (std::uint32_t batch = 0; batch < options.batches_per_epoch; ++batch) {
    records->push_back(setup.index->RecordCount({0, batch}));
  }
  options.records = [records](std::uint32_t batch) { return (*records)[batch]; };
  options.block = [index = setup.index](std::uint32_t batch) {
    const Result<BatchPlace> place = index->Place({0, batch});
    return place.ok() ? place->block : 0;
  };
  // One epoch's order at a time: grants walk through the epochs.
  struct Order {
    std::uint32_t epoch = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> batches;
  };
  options.order = [index = setup.index, order = std::make_shared<Order>()](std::uint32_t epoch,
                                                                           std::uint32_t position) {
    if (order->epoch != epoch) *order = {epoch, index->WorkIdOrder(epoch)};
    return order->batches[position];
  };
  options.ps_count = static_cast<std::uint32_t>(context.job.spec().replica_specs().ps().replicas());
  options.shard_to_ps = PlaceShards({setup.run.variables().begin(), setup.run.variables().end()},
                                    strategy.placement(), options.shards, options.ps_count,
                                    static_cast<std::uint32_t>(context.training().batch_size()));
  options.started = std::chrono::steady_clock::now();
  options.rejoin_timeout = seconds(context.training().rejoin_timeout_seconds());
  options.checkpoints = setup.checkpoints;
  options.full_every = static_cast<std::uint32_t>(context.training().checkpoint().full_every());
  return options;
}

}  // namespace

Chief::Chief(const RoleContext& context, ChiefSetup setup)
    : context_(context),
      setup_(std::move(setup)),
      stats_(context.stats),
      common_stats_(context.stats),
      protocol_(MakeProtocolOptions(context, setup_)),
      last_checkpoint_(std::chrono::steady_clock::now()),
      evaluator_seen_(last_checkpoint_),
      ready_since_(last_checkpoint_) {
  if (setup_.checkpoint) {
    newest_checkpoint_ = setup_.checkpoint->id;
    const CheckpointManifest& manifest = setup_.checkpoint->manifest;
    NoteCounts(manifest);
    if (manifest.final() &&
        manifest.epochs() >= static_cast<std::uint32_t>(context_.training().epochs())) {
      final_checkpoint_ = manifest;
      final_since_ = last_checkpoint_;
    }
  }
  if (HasEvaluator() && newest_checkpoint_) stopped_loss_ = setup_.directory.StoppedEvalLoss();
  if (!stopped_loss_) restored_loss_ = setup_.directory.RestoredEvalLoss();
  announcing_ = (stopped_loss_ || restored_loss_) && setup_.directory.AnnouncementAwaited();
  announce_since_ = last_checkpoint_;
  if (setup_.directory.chief_term() > 1) stats_.chief_recoveries->Add();
}

Chief::~Chief() {
  // The threads of the lines call back into all other members, also into ps_ itself: they end
  // before anything else does, and until then find no ps.
  std::map<std::uint32_t, PsPeer> ps;
  std::vector<std::unique_ptr<PsLink>> retired;
  const std::lock_guard lock(mutex_);
  ps.swap(ps_);
  retired.swap(retired_);
}

bool Chief::HasEvaluator() const {
  return context_.training().has_evaluation() &&
         context_.job.spec().replica_specs().evaluator().replicas() > 0;
}

void Chief::Fail(Status status) {
  if (failure_) return;
  LogError("chief", "the job fails", {{"reason", status.message()}});
  failure_ = std::move(status);
  changed_.notify_all();
}

Result<int> Chief::Run() {
  using Clock = std::chrono::steady_clock;
  common_stats_.ready->Set(1);
  while (true) {
    std::vector<std::unique_ptr<PsLink>> retired;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kTick, [this] { return failure_.has_value(); });
      const Time now = Clock::now();
      Step(now);
      if (failure_) return *failure_;
      if (phase_ == Phase::kReleasing && ReleaseDone(now)) {
        return finished_ ? kExitSuccess : kExitDrained;
      }
      if (now - last_term_check_ > kTermCheck) {
        last_term_check_ = now;
        const Result<bool> replaced = setup_.directory.Replaced();
        if (replaced.ok() && *replaced) {
          LogWarning("chief", "a newer chief has taken over");
          return kExitDrained;
        }
      }
      retired.swap(retired_);
    }
    // Destroyed here: their destructors wait for calls that are being cancelled.
  }
}

void Chief::Step(Time now) {
  protocol_.Tick(now);
  setup_.barriers.Refresh();
  ExpirePeers(now);
  Dispatch();
  FinishCheckpoint(now);
  PublishStats();
  if (phase_ == Phase::kReleasing) return;
  if (context_.stop.stop_requested() && !protocol_.draining()) {
    LogInfo("chief", "told to stop: no more grants");
    protocol_.Drain();
    drain_since_ = now;
  }
  CheckRestored(now);
  CheckPatience(now);
  if (CheckpointDue(now)) StartCheckpoint(now);
  if (checkpoint_failures_ >= kCheckpointFailures) {
    Fail(checkpoint_error_.WithContext(setup_.directory.MustBeWritable() + ": " +
                                       std::to_string(checkpoint_failures_) +
                                       " checkpoints in a row failed"));
  } else if (RunFinished(now)) {
    const Status written = setup_.directory.WriteResult(ResultJson());
    if (!written.ok()) return Fail(written);
    if (HasEvaluator() && evaluation_.checkpoint != newest_checkpoint_) {
      LogWarning("chief",
                 "no final evaluation came within spec.training.evaluation.deadlineSeconds");
    }
    BeginRelease(true, now);
  } else if (DrainFinished(now)) {
    Status written = setup_.directory.WriteStopped(ResultJson());
    if (!written.ok()) LogWarning("chief", "stopped.json not written", {{"error", written}});
    BeginRelease(false, now);
  }
}

void Chief::CheckPatience(Time now) {
  const bool ready = protocol_.AllActive() && !workers_.empty();
  if (ready || final_checkpoint_ || protocol_.draining()) {
    ready_since_ = now;
    return;
  }
  const seconds patience{context_.training().peer_timeout_seconds()};
  if (now - ready_since_ < patience) return;
  std::string missing;
  const auto ps_count = context_.job.spec().replica_specs().ps().replicas();
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(ps_count); ++i) {
    if (!ps_.contains(i)) missing += (missing.empty() ? "ps " : ", ps ") + std::to_string(i);
  }
  missing = !missing.empty()   ? missing + " did not come"
            : workers_.empty() ? "no worker came"
                               : "not every shard got an owner";
  Fail(DeadlineExceededError(missing + " within spec.training.peerTimeoutSeconds (" +
                             std::to_string(patience.count()) +
                             " s); see why in their logs, or raise it"));
}

void Chief::CheckRestored(Time now) {
  if (announcing_ && restored_loss_) {
    announcing_ =
        setup_.directory.AnnouncementAwaited() && now - announce_since_ < kAnnouncePatience;
  }
  if (!stopped_loss_ || restored_loss_ || !evaluation_.checkpoint || checkpoints_placed_ == 0)
    return;
  if (evaluation_.checkpoint != newest_checkpoint_) return;
  restored_loss_ = evaluation_.metrics["eval_loss"];
  LogInfo("chief", "the restored state was evaluated",
          {{"eval_loss", *stopped_loss_}, {"restored_eval_loss", *restored_loss_}});
  const Status written = setup_.directory.WriteRestored(*restored_loss_);
  if (!written.ok()) LogWarning("chief", "restored.json not written", {{"error", written}});
  stopped_loss_.reset();
  announce_since_ = now;
}

bool Chief::RunFinished(Time now) const {
  if (!final_checkpoint_) return false;
  if (!HasEvaluator()) return true;
  if (evaluation_.checkpoint && evaluation_.checkpoint == newest_checkpoint_) return true;
  return now - final_since_ > seconds(context_.training().evaluation().deadline_seconds());
}

bool Chief::DrainFinished(Time now) const {
  if (!protocol_.draining()) return false;
  // Out of time: what was applied since the last checkpoint is computed again after the resume.
  if (now - drain_since_ > context_.grace - kDrainReserve) return true;
  if (!protocol_.Drained() || checkpoint_) return false;
  const bool covered =
      protocol_.Progress().work_ids_committed == work_ids_at_checkpoint_ && newest_checkpoint_;
  if (!covered && (protocol_.AllActive() || protocol_.joining())) return false;
  const bool evaluated = !HasEvaluator() || evaluation_.checkpoint == newest_checkpoint_ ||
                         now - evaluator_seen_ > kReleasePatience;
  return !covered || evaluated;
}

void Chief::BeginRelease(bool finished, Time now) {
  phase_ = Phase::kReleasing;
  finished_ = finished;
  release_since_ = now;
  for (auto& [index, peer] : ps_) ReleasePs(index, finished);
  LogInfo("chief", finished ? "the run is finished" : "drained; all are released");
}

bool Chief::ReleaseDone(Time now) const {
  if (now - release_since_ > kReleasePatience) return true;
  const bool ps_done =
      std::all_of(ps_.begin(), ps_.end(), [](const auto& peer) { return peer.second.released; });
  const bool workers_done = std::all_of(workers_.begin(), workers_.end(),
                                        [](const auto& peer) { return peer.second.told_end; });
  return ps_done && workers_done && (!HasEvaluator() || evaluator_told_end_);
}

void Chief::NoteCounts(const CheckpointManifest& manifest) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  applied_ = {.lowest = kMost, .highest = 0, .skipped = kMost};
  for (const CheckpointShard& checkpoint_shard : manifest.checkpoint_shards()) {
    applied_.lowest = std::min(applied_.lowest, checkpoint_shard.examples_applied());
    applied_.highest = std::max(applied_.highest, checkpoint_shard.examples_applied());
    applied_.skipped = std::min(applied_.skipped, checkpoint_shard.records_skipped());
  }
}

std::string Chief::ResultJson() const {
  Json json = Json::Object();
  const auto metric = [&](const char* name) {
    const auto found = evaluation_.metrics.find(name);
    return found == evaluation_.metrics.end() ? Json::Null() : Json::Double(found->second);
  };
  const CommitProgress progress = protocol_.Progress();
  for (const char* name : {"auc", "accuracy", "log_loss", "calibration", "eval_loss"}) {
    json.Set(name, metric(name));
  }
  json.Set("examples_expected", Json::Int(progress.examples_expected));
  json.Set("examples_committed",
           Json::Int(final_checkpoint_ ? final_checkpoint_->examples_committed()
                                       : progress.examples_committed));
  if (final_checkpoint_) {
    json.Set("applied_min", Json::Int(applied_.lowest));
    json.Set("applied_max", Json::Int(applied_.highest));
  }
  json.Set("records_skipped", Json::Int(applied_.skipped));
  json.Set("checkpoints", Json::Uint(checkpoints_placed_));
  json.Set("checkpoint",
           newest_checkpoint_ ? Json::String(CheckpointName(*newest_checkpoint_)) : Json::Null());
  if (restored_loss_) json.Set("restored_eval_loss", Json::Double(*restored_loss_));
  return WriteJson(json);
}

void Chief::PublishStats() {
  const CommitProgress progress = protocol_.Progress();
  stats_.examples_expected->Set(static_cast<double>(progress.examples_expected));
  if (protocol_.AllActive()) counts_known_ = true;
  if (final_checkpoint_) {
    stats_.examples_committed->Set(static_cast<double>(final_checkpoint_->examples_committed()));
  } else if (counts_known_) {
    stats_.examples_committed->Set(static_cast<double>(progress.examples_committed));
  }
  if (counts_known_) {
    stats_.steps->Set(static_cast<double>(progress.work_ids_committed));
    const std::uint64_t epoch =
        progress.work_ids_committed / std::max(1u, setup_.run.batches_per_epoch());
    stats_.epoch->Set(static_cast<double>(epoch));
  }
  stats_.membership->Set(static_cast<double>(protocol_.membership().number));
  stats_.chief_term->Set(static_cast<double>(setup_.directory.chief_term()));
  stats_.records_skipped->Set(static_cast<double>(applied_.skipped));
  if (newest_checkpoint_) {
    stats_.applied_min->Set(static_cast<double>(applied_.lowest));
    stats_.applied_max->Set(static_cast<double>(applied_.highest));
  }
  if (loss_known_) stats_.loss->Set(loss_);
  if (restored_loss_) stats_.restored_eval_loss->Set(*restored_loss_);
  const auto publish = [&](const char* name, Gauge* gauge) {
    const auto found = evaluation_.metrics.find(name);
    if (found != evaluation_.metrics.end()) gauge->Set(found->second);
  };
  publish("auc", stats_.auc);
  publish("accuracy", stats_.accuracy);
  publish("log_loss", stats_.log_loss);
  publish("calibration", stats_.calibration);
}

}  // namespace pstrain
