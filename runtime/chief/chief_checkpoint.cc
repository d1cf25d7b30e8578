#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/retention.h"
#include "runtime/chief/chief.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

constexpr std::chrono::seconds kRetryCheckpoint{1};

std::int64_t UnixMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool Chief::CheckpointDue(Time now) const {
  if (checkpoint_ || final_checkpoint_ || !protocol_.AllActive()) return false;
  if (checkpoint_failures_ > 0 && now - last_checkpoint_ < kRetryCheckpoint) return false;
  const std::uint64_t work_ids = protocol_.Progress().work_ids_committed;
  if (protocol_.AllCommitted() || protocol_.CheckpointWanted()) return true;
  if (stopped_loss_ && checkpoints_placed_ == 0)
    return true;  // the restored state, to be evaluated
  if (protocol_.Drained()) return work_ids != work_ids_at_checkpoint_ || !newest_checkpoint_;
  const Checkpoint& checkpoint = context_.training().checkpoint();
  if (checkpoint.every_steps() > 0 &&
      work_ids >= work_ids_at_checkpoint_ + static_cast<std::uint64_t>(checkpoint.every_steps())) {
    return true;
  }
  return checkpoint.every_seconds() > 0 && work_ids != work_ids_at_checkpoint_ &&
         now - last_checkpoint_ >= std::chrono::seconds(checkpoint.every_seconds());
}

void Chief::StartCheckpoint(Time now) {
  std::optional<CheckpointPlan> plan = protocol_.StartCheckpoint();
  if (!plan) return;
  last_checkpoint_ = now;
  const CheckpointId id{setup_.directory.chief_term(), next_checkpoint_++};
  const Result<std::string> folder = CreateCheckpointDirectory(setup_.run.run_directory(), id);
  checkpoint_ = CheckpointInProgress{.id = id,
                                     .plan = std::move(*plan),
                                     .checkpoint_shards = {},
                                     .pending = 0,
                                     .work_ids = protocol_.Progress().work_ids_committed,
                                     .status = folder.status(),
                                     .base = {},
                                     .bytes = 0};
  if (!folder.ok()) return;
  for (const CheckpointPlan::Ps& ps : checkpoint_->plan.ps) {
    const auto peer = ps_.find(ps.index);
    if (peer == ps_.end() || peer->second.link->incarnation() != ps.incarnation) {
      checkpoint_->status = AbortedError("ps " + std::to_string(ps.index) + " is gone");
      continue;
    }
    WriteCheckpointShardsRequest request;
    request.set_chief_term(setup_.directory.chief_term());
    request.set_incarnation(ps.incarnation);
    request.set_checkpoint(CheckpointName(id));
    request.set_close_epochs_below(checkpoint_->plan.close_epochs_below);
    request.set_base(checkpoint_->plan.base);
    for (const ShardInTerm& shard : ps.shards) ToWire(shard, request.add_shards());
    ++checkpoint_->pending;
    peer->second.link->Post([this, id, request = std::move(request)](ParameterServerClient& client,
                                                                     const std::stop_token&) {
      const Result<WriteCheckpointShardsReply> reply = client.WriteCheckpointShards(request);
      const std::lock_guard lock(mutex_);
      CheckpointShardsWritten(id, reply);
    });
  }
}

void Chief::CheckpointShardsWritten(const CheckpointId& id,
                                    const Result<WriteCheckpointShardsReply>& reply) {
  if (!checkpoint_ || checkpoint_->id != id) return;
  --checkpoint_->pending;
  if (!reply.ok()) {
    checkpoint_->status = reply.status();
  } else {
    checkpoint_->checkpoint_shards.insert(checkpoint_->checkpoint_shards.end(),
                                          reply->checkpoint_shards().begin(),
                                          reply->checkpoint_shards().end());
    if (checkpoint_->pending > 0)
      context_.fail_points.Pass(FailPoint::kChiefBetweenCheckpointShards);
  }
  changed_.notify_all();
}

Status Chief::PlaceManifest() {
  CheckpointManifest manifest;
  manifest.set_run_id(context_.run_id);
  manifest.set_chief_term(checkpoint_->id.chief_term);
  manifest.set_number(checkpoint_->id.number);
  manifest.set_shards(setup_.run.shards());
  manifest.set_batches_per_epoch(setup_.run.batches_per_epoch());
  *manifest.mutable_variables() = setup_.run.variables();
  manifest.set_created_unix_ms(UnixMillis());
  const CommitProgress progress = protocol_.Progress();
  manifest.set_examples_committed(progress.examples_committed);
  manifest.set_examples_expected(progress.examples_expected);
  manifest.set_final(checkpoint_->plan.final);
  manifest.set_epochs(static_cast<std::uint32_t>(context_.training().epochs()));
  std::sort(
      checkpoint_->checkpoint_shards.begin(), checkpoint_->checkpoint_shards.end(),
      [](const CheckpointShard& a, const CheckpointShard& b) { return a.shard() < b.shard(); });
  std::vector<WrittenCheckpointShard> written;
  for (const CheckpointShard& checkpoint_shard : checkpoint_->checkpoint_shards) {
    *manifest.add_checkpoint_shards() = checkpoint_shard;
    if (checkpoint_shard.incremental()) manifest.set_base(checkpoint_->plan.base);
    written.push_back({checkpoint_shard.shard(),
                       {checkpoint_shard.chief_term(), checkpoint_shard.term_counter()},
                       checkpoint_shard.incremental(),
                       checkpoint_shard.bytes()});
  }
  const std::string folder = CheckpointDirectory(setup_.run.run_directory(), checkpoint_->id);
  const auto last_check = [&]() -> Status {
    PSTRAIN_RETURN_IF_ERROR(CheckChiefTerm(setup_.run.run_directory(), checkpoint_->id.chief_term));
    PSTRAIN_RETURN_IF_ERROR(protocol_.FinishCheckpoint(written));
    context_.fail_points.Pass(FailPoint::kChiefBeforeRename);
    return OkStatus();
  };
  PSTRAIN_RETURN_IF_ERROR(WriteManifest(folder, manifest, last_check));
  context_.fail_points.Pass(FailPoint::kChiefAfterRename);
  NoteCounts(manifest);
  for (const CheckpointShard& checkpoint_shard : manifest.checkpoint_shards())
    checkpoint_->bytes += checkpoint_shard.bytes();
  checkpoint_->base = manifest.base();
  if (manifest.final()) final_checkpoint_ = std::move(manifest);
  return OkStatus();
}

void Chief::FinishCheckpoint(Time now) {
  if (!checkpoint_ || checkpoint_->pending > 0) return;
  Status status = checkpoint_->status;
  if (status.ok()) status = PlaceManifest();
  if (!status.ok()) {
    protocol_.CheckpointFailed();
    stats_.checkpoints_abandoned->Add();
    LogWarning("chief", "a checkpoint was abandoned",
               {{"checkpoint", CheckpointName(checkpoint_->id)}, {"reason", status}});
    const bool term_changed = status.code() == StatusCode::kAborted ||
                              status.code() == StatusCode::kUnavailable ||
                              status.code() == StatusCode::kCancelled;
    if (!term_changed) {
      ++checkpoint_failures_;
      checkpoint_error_ = status;
    }
    const Status removed = RemoveCheckpoint(setup_.run.run_directory(), checkpoint_->id);
    if (!removed.ok()) LogWarning("chief", "abandoned checkpoint stays", {{"error", removed}});
    checkpoint_.reset();
    Dispatch();
    return;
  }
  checkpoint_failures_ = 0;
  newest_checkpoint_ = checkpoint_->id;
  work_ids_at_checkpoint_ = checkpoint_->work_ids;
  if (final_checkpoint_) final_since_ = now;
  ++checkpoints_placed_;
  stats_.checkpoints->Add();
  protocol_.CheckpointPlaced(CheckpointName(checkpoint_->id));
  LogInfo("chief", "checkpoint in place",
          {{"checkpoint", CheckpointName(checkpoint_->id)},
           {"base", checkpoint_->base},
           {"bytes", checkpoint_->bytes},
           {"seconds", std::chrono::duration<double>(now - last_checkpoint_).count()},
           {"final", checkpoint_->plan.final}});
  checkpoint_.reset();
  RetentionRule rule;
  rule.keep = static_cast<std::uint32_t>(context_.training().checkpoint().keep());
  rule.chief_term = setup_.directory.chief_term();
  if (pinned_) rule.pinned.insert(*pinned_);
  // A new chief deletes nothing until the evaluator has said what it reads, or is late.
  const bool evaluator_known = !HasEvaluator() || pinned_ || evaluation_.checkpoint ||
                               now - evaluator_seen_ > std::chrono::seconds(60);
  if (evaluator_known) {
    const Result<std::vector<CheckpointId>> removed =
        ApplyRetention(setup_.run.run_directory(), rule);
    if (removed.ok()) {
      for (const CheckpointId& id : *removed) protocol_.CheckpointRemoved(CheckpointName(id));
    } else {
      LogWarning("chief", "old checkpoints stay", {{"error", removed.status()}});
    }
  }
  Dispatch();
}

}  // namespace pstrain
