#include "runtime/chief/checkpointing.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/retention.h"
#include "runtime/chief/peers/ps_messages.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr seconds kRetryCheckpoint{1};
/// Checkpoints that fail one after the other before the job fails.
constexpr int kMostFailures = 5;

}  // namespace

Checkpointing::Checkpointing(const ChiefDependencies& chief, PsPeers& ps,
                             const EvaluatorPeer& evaluator)
    : chief_(chief), ps_(ps), evaluator_(evaluator), last_(chief.clock.Now()) {
  if (!chief_.setup.checkpoint) return;
  newest_ = chief_.setup.checkpoint->id;
  const CheckpointManifest& manifest = chief_.setup.checkpoint->manifest;
  applied_ = CountsOf(manifest);
  // A job whose spec.training.epochs was raised since continues.
  const std::int64_t expected = chief_.protocol.Progress().examples_expected;
  const bool proven = applied_.lowest == expected && applied_.highest == expected;
  if (manifest.final() && proven &&
      manifest.epochs() >= static_cast<std::uint32_t>(chief_.context.training().epochs())) {
    final_ = manifest;
    final_since_ = last_;
  }
}

bool Checkpointing::Covered() const {
  return newest_ && chief_.protocol.Progress().work_ids_committed == work_ids_at_newest_;
}

bool Checkpointing::Due() const {
  const CommitProtocol& protocol = chief_.protocol;
  if (in_progress_ || final_ || !protocol.AllActive()) return false;
  if (failures_ > 0 && chief_.Since(last_) < kRetryCheckpoint) return false;
  if (protocol.AllCommitted() || protocol.CheckpointWanted()) return true;
  if (evaluator_.RestoredStateWanted() && placed_ == 0) return true;
  if (protocol.Drained()) return !Covered();
  const std::uint64_t work_ids = protocol.Progress().work_ids_committed;
  const Checkpoint& checkpoint = chief_.context.training().checkpoint();
  if (checkpoint.every_steps() > 0 &&
      work_ids >= work_ids_at_newest_ + static_cast<std::uint64_t>(checkpoint.every_steps())) {
    return true;
  }
  return checkpoint.every_seconds() > 0 && work_ids != work_ids_at_newest_ &&
         chief_.Since(last_) >= seconds(checkpoint.every_seconds());
}

void Checkpointing::Start() {
  std::optional<CheckpointPlan> plan = chief_.protocol.StartCheckpoint();
  if (!plan) return;
  last_ = chief_.clock.Now();
  const CheckpointId id{chief_.chief_term(), next_number_++};
  const Result<std::string> folder =
      CreateCheckpointDirectory(chief_.setup.run.run_directory(), id);
  in_progress_ = InProgress{.id = id,
                            .plan = std::move(*plan),
                            .checkpoint_shards = {},
                            .applied = {},
                            .pending = 0,
                            .work_ids = chief_.protocol.Progress().work_ids_committed,
                            .status = folder.status(),
                            .base = {},
                            .bytes = 0};
  if (!folder.ok()) return;
  for (const CheckpointPlan::Ps& ps : in_progress_->plan.ps) {
    WriteCheckpointShardsRequest request = ToRequest(in_progress_->plan, ps, chief_.chief_term());
    request.set_checkpoint(CheckpointName(id));
    ++in_progress_->pending;
    const bool sent = ps_.WriteCheckpointShards(
        ps.index, std::move(request),
        [this, id](const Result<WriteCheckpointShardsReply>& reply) { ShardsWritten(id, reply); });
    if (sent) continue;
    --in_progress_->pending;
    in_progress_->status = AbortedError("ps " + std::to_string(ps.index) + " is gone");
  }
}

void Checkpointing::ShardsWritten(const CheckpointId& id,
                                  const Result<WriteCheckpointShardsReply>& reply) {
  if (!in_progress_ || in_progress_->id != id) return;
  --in_progress_->pending;
  if (!reply.ok()) {
    in_progress_->status = reply.status();
    return;
  }
  in_progress_->checkpoint_shards.insert(in_progress_->checkpoint_shards.end(),
                                         reply->checkpoint_shards().begin(),
                                         reply->checkpoint_shards().end());
  Result<std::vector<ShardCopy>> copies = AllFromWire<ShardCopy>(reply->copies());
  if (!copies.ok()) in_progress_->status = copies.status();
  for (ShardCopy& copy : copies.ok() ? *copies : std::vector<ShardCopy>()) {
    in_progress_->applied.insert_or_assign(copy.shard, std::move(copy.applied));
  }
  if (in_progress_->pending > 0) {
    chief_.context.fail_points.Pass(FailPoint::kChiefBetweenCheckpointShards);
  }
}

CheckpointManifest Checkpointing::MakeManifest() const {
  CheckpointManifest manifest;
  manifest.set_run_id(chief_.context.run_id);
  manifest.set_chief_term(in_progress_->id.chief_term);
  manifest.set_number(in_progress_->id.number);
  manifest.set_shards(chief_.setup.run.shards());
  manifest.set_batches_per_epoch(chief_.setup.run.batches_per_epoch());
  *manifest.mutable_variables() = chief_.setup.run.variables();
  manifest.set_created_unix_ms(chief_.clock.UnixMillis());
  const CommitProgress progress = chief_.protocol.Progress();
  manifest.set_examples_committed(progress.examples_committed);
  manifest.set_examples_expected(progress.examples_expected);
  *manifest.mutable_job() = FixedPart(chief_.context.job.spec());
  manifest.set_final(in_progress_->plan.final);
  manifest.set_epochs(static_cast<std::uint32_t>(chief_.context.training().epochs()));
  for (const CheckpointShard& checkpoint_shard : in_progress_->checkpoint_shards) {
    *manifest.add_checkpoint_shards() = checkpoint_shard;
    if (checkpoint_shard.incremental()) manifest.set_base(in_progress_->plan.base);
  }
  return manifest;
}

Status Checkpointing::PlaceManifest() {
  std::ranges::sort(in_progress_->checkpoint_shards, {}, &CheckpointShard::shard);
  std::vector<WrittenCheckpointShard> written;
  for (const CheckpointShard& checkpoint_shard : in_progress_->checkpoint_shards) {
    const auto applied = in_progress_->applied.find(checkpoint_shard.shard());
    written.push_back(
        {checkpoint_shard.shard(),
         {checkpoint_shard.chief_term(), checkpoint_shard.term_counter()},
         checkpoint_shard.incremental(),
         checkpoint_shard.bytes(),
         applied == in_progress_->applied.end() ? std::nullopt : std::optional(applied->second),
         checkpoint_shard.examples_applied()});
    in_progress_->bytes += checkpoint_shard.bytes();
  }
  const std::string& run_directory = chief_.setup.run.run_directory();
  const auto last_check = [&]() -> Status {
    PSTRAIN_RETURN_IF_ERROR(CheckChiefTerm(run_directory, in_progress_->id.chief_term));
    PSTRAIN_RETURN_IF_ERROR(chief_.protocol.FinishCheckpoint(written));
    chief_.context.fail_points.Pass(FailPoint::kChiefBeforeRename);
    return OkStatus();
  };
  CheckpointManifest manifest = MakeManifest();
  PSTRAIN_RETURN_IF_ERROR(
      WriteManifest(CheckpointDirectory(run_directory, in_progress_->id), manifest, last_check));
  chief_.context.fail_points.Pass(FailPoint::kChiefAfterRename);
  applied_ = CountsOf(manifest);
  in_progress_->base = manifest.base();
  if (manifest.final()) final_ = std::move(manifest);
  return OkStatus();
}

void Checkpointing::Abandon(const Status& status) {
  chief_.protocol.CheckpointFailed();
  chief_.stats.checkpoints_abandoned->Add();
  LogWarning("chief", "a checkpoint was abandoned",
             {{"checkpoint", CheckpointName(in_progress_->id)}, {"reason", status}});
  const bool term_changed = status.code() == StatusCode::kAborted ||
                            status.code() == StatusCode::kUnavailable ||
                            status.code() == StatusCode::kCancelled;
  if (!term_changed) {
    ++failures_;
    error_ = status;
  }
  const Status removed = RemoveCheckpoint(chief_.setup.run.run_directory(), in_progress_->id);
  if (!removed.ok()) LogWarning("chief", "abandoned checkpoint stays", {{"error", removed}});
  in_progress_.reset();
  ps_.Dispatch();
}

void Checkpointing::Finish() {
  if (!in_progress_ || in_progress_->pending > 0) return;
  Status status = in_progress_->status;
  if (status.ok()) status = PlaceManifest();
  if (!status.ok()) return Abandon(status);
  failures_ = 0;
  newest_ = in_progress_->id;
  work_ids_at_newest_ = in_progress_->work_ids;
  if (final_) final_since_ = chief_.clock.Now();
  ++placed_;
  chief_.stats.checkpoints->Add();
  chief_.protocol.CheckpointPlaced(CheckpointName(in_progress_->id));
  LogInfo("chief", "checkpoint in place",
          {{"checkpoint", CheckpointName(in_progress_->id)},
           {"base", in_progress_->base},
           {"bytes", in_progress_->bytes},
           {"seconds", std::chrono::duration<double>(chief_.Since(last_)).count()},
           {"final", in_progress_->plan.final}});
  in_progress_.reset();
  Retain();
  ps_.Dispatch();
}

void Checkpointing::Retain() {
  if (!evaluator_.PinKnown()) return;
  RetentionRule rule;
  rule.keep = static_cast<std::uint32_t>(chief_.context.training().checkpoint().keep());
  rule.chief_term = chief_.chief_term();
  if (evaluator_.pinned()) rule.pinned.insert(*evaluator_.pinned());
  const Result<std::vector<CheckpointId>> removed =
      ApplyRetention(chief_.setup.run.run_directory(), rule);
  if (!removed.ok()) {
    LogWarning("chief", "old checkpoints stay", {{"error", removed.status()}});
    return;
  }
  for (const CheckpointId& id : *removed) chief_.protocol.CheckpointRemoved(CheckpointName(id));
}

Status Checkpointing::Failure() const {
  if (failures_ < kMostFailures) return OkStatus();
  return error_.WithContext(chief_.setup.directory.MustBeWritable() + ": " +
                            std::to_string(failures_) + " checkpoints in a row failed");
}

}  // namespace pstrain
