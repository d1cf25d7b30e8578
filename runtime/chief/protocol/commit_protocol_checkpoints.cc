// The part of CommitProtocol that decides when a checkpoint may be taken, what it builds on and
// whether it counts.
#include <algorithm>
#include <utility>

#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain {

// Rule 9, Move: a leaving ps whose shards cannot move waits for a checkpoint. While they can,
// AllActive() is false here, or the ps is released before anybody asks. Invariant: true only where
// StartCheckpoint would start one.
bool CommitProtocol::CheckpointWanted() const {
  if (!AllActive() || checkpoint_) return false;
  return std::ranges::any_of(ps_, [](const auto& entry) { return entry.second.leaving; });
}

// Rule 5, of a program. Invariant: once two full checkpoints are in place that were started since,
// it is false until as much is done again: what waits or is under way does not count.
bool CommitProtocol::LogFull() {
  return ledger_.KeptBelow(ledger_.LeadingCommitted()) > options_.most_log_bytes;
}

// Rule 5. The terms of this moment are remembered: the ps copy their shards at different moments
// while training continues, and the applied set in each copy says what is in it. No consistent
// moment across shards is needed, only that each copy is of the owner in its current term.
// Invariant: at most one is under way, and it began while every shard had an owner.
std::optional<CheckpointPlan> CommitProtocol::StartCheckpoint(bool whole) {
  if (!AllActive() || checkpoint_) return std::nullopt;
  PendingCheckpoint checkpoint;
  CheckpointPlan plan;
  plan.close_epochs_below = closed_epochs_;
  plan.final = Complete();
  plan.whole = whole || plan.final;
  checkpoint.final = plan.final;
  checkpoint.whole = plan.whole;
  checkpoint.complete_epochs = ledger_.CompleteChunks();
  checkpoint.covers = ledger_.LeadingCommitted();
  if (!plan.whole && ChainMayGrow() && !LogFull()) plan.base = chain_.newest;
  checkpoint.base = plan.base;
  for (const auto& [index, ps] : ps_) {
    if (ps.leaving) checkpoint.leaving.insert(ps.incarnation);
    CheckpointPlan::Ps part{index, ps.incarnation, {}};
    for (ShardId s = 0; s < options_.shards; ++s) {
      if (shards_[s].ps == index) part.shards.push_back({s, shards_[s].term});
    }
    if (!part.shards.empty()) plan.ps.push_back(std::move(part));
  }
  for (const Shard& shard : shards_) checkpoint.terms.push_back(shard.term);
  checkpoint_ = std::move(checkpoint);
  return plan;
}

// Rule 5: whether the next checkpoint may be incremental. A longer chain makes a restore slower and
// one damaged file more expensive. A final or whole checkpoint is full (StartCheckpoint), so that
// it can be copied away without the others, and a damaged file of these spoils none. A new chief
// begins with a full one: it does not know up to which mark the ps copied their rows for the chief
// before it. Invariant: a base is in place, and this chief has placed it.
bool CommitProtocol::ChainMayGrow() const {
  return std::ranges::find(checkpoints_, chain_.newest) != checkpoints_.end() &&
         chain_.increments + 1 < options_.full_every &&
         chain_.increment_bytes <= chain_.full_bytes / 2;
}

// Rule 5, the check before the rename, and once more after it, as the manifest is written without
// the chief's lock. Invariant: a checkpoint that counts has, of every shard, a copy of the owner
// that is still current. So it has all that was committed when it was started: the final one is
// complete, and epochs that were whole then may be closed.
Status CommitProtocol::FinishCheckpoint(
    const std::vector<WrittenCheckpointShard>& checkpoint_shards) {
  if (!checkpoint_) return FailedPreconditionError("no checkpoint is under way");
  Status status = CheckCheckpointShards(checkpoint_shards);
  if (status.ok() && checkpoint_->whole) status = ProveComplete(checkpoint_shards);
  if (!status.ok()) {
    checkpoint_.reset();
    if (status.code() == StatusCode::kDataLoss) FailRun(status);
    return status;
  }
  checkpoint_->bytes = 0;
  for (const WrittenCheckpointShard& checkpoint_shard : checkpoint_shards) {
    checkpoint_->bytes += checkpoint_shard.bytes;
    checkpoint_->incremental = checkpoint_->incremental || checkpoint_shard.incremental;
  }
  return OkStatus();
}

// Rule 5, the part of FinishCheckpoint that compares terms. Invariant: each checkpoint shard is of
// the term that its shard had at the start and has now, none is missing, and an incremental one
// builds on a base in place that has the rows of the same term.
Status CommitProtocol::CheckCheckpointShards(
    const std::vector<WrittenCheckpointShard>& checkpoint_shards) const {
  std::vector<bool> present(options_.shards, false);
  for (const WrittenCheckpointShard& checkpoint_shard : checkpoint_shards) {
    if (checkpoint_shard.shard >= options_.shards ||
        checkpoint_shard.term != checkpoint_->terms[checkpoint_shard.shard]) {
      return AbortedError("checkpoint: a checkpoint shard is of another shard term");
    }
    // Rows since the base make sense only on top of the same copy's rows.
    if (checkpoint_shard.incremental &&
        (checkpoint_->base.empty() ||
         chain_.terms[checkpoint_shard.shard] != checkpoint_shard.term)) {
      return AbortedError("checkpoint: the checkpoint shard of shard " +
                          std::to_string(checkpoint_shard.shard) +
                          " is incremental and its base is of another shard term");
    }
    present[checkpoint_shard.shard] = true;
  }
  for (ShardId s = 0; s < options_.shards; ++s) {
    if (!present[s]) {
      return AbortedError("checkpoint: the checkpoint shard of shard " + std::to_string(s) +
                          " is missing");
    }
    if (shards_[s].phase != ShardPhase::kActive || shards_[s].term != checkpoint_->terms[s]) {
      return AbortedError("checkpoint: shard " + std::to_string(s) + " has got a new shard term");
    }
  }
  if (!checkpoint_->base.empty() &&
      std::ranges::find(checkpoints_, checkpoint_->base) == checkpoints_.end()) {
    return AbortedError("checkpoint: its base " + checkpoint_->base + " is not readable");
  }
  return OkStatus();
}

// Rule 5: from here on the checkpoint may be restored from and built on. Invariant: only
// checkpoints in place are ever named as a base, so what an abandoned one had is in the next one.
void CommitProtocol::CheckpointPlaced(std::string checkpoint) {
  checkpoints_.insert(checkpoints_.begin(), std::move(checkpoint));
  had_checkpoints_ = true;
  if (!checkpoint_) return;
  if (checkpoint_->final) early_end_.Close();
  if (checkpoint_->incremental) {
    ++chain_.increments;
    chain_.increment_bytes += checkpoint_->bytes;
  } else {
    // Rule 7. The one before shares no file with this one, so that one damaged file never makes
    // shards begin without what is forgotten.
    if (std::ranges::find(checkpoints_, chain_.newest) != checkpoints_.end())
      ledger_.Forget(chain_.covers);
    chain_ = CheckpointIncrements();
    chain_.full_bytes = checkpoint_->bytes;
  }
  chain_.newest = checkpoints_.front();
  chain_.covers = checkpoint_->covers;
  chain_.terms = std::move(checkpoint_->terms);
  // Whole in this checkpoint and in every later one: the applied sets may forget these batches.
  closed_epochs_ = std::max(closed_epochs_, checkpoint_->complete_epochs);
  // Rule 9, Move: these ps waited for this checkpoint. One that began to leave later has applied
  // more since, and waits for the next.
  std::vector<std::uint32_t> released;
  for (const auto& [index, ps] : ps_) {
    if (checkpoint_->leaving.contains(ps.incarnation)) released.push_back(index);
  }
  checkpoint_.reset();
  // A move that has failed may be possible where a ps has left. Else it keeps its pause: where the
  // link between two ps is cut, a job that takes checkpoints often would do nothing but move.
  if (!released.empty()) moves_blocked_ = false;
  for (const std::uint32_t index : released) Release(index);
  PlanMoves();
  if (!AllActive()) Publish();
}

// Rule 5: given up before the rename. Invariant: chain_ and closed_epochs_ are those of the last
// one in place, so nothing refers to this one, and the next one has all that it had.
void CommitProtocol::CheckpointFailed() { checkpoint_.reset(); }

// Rules 7 and 10. Invariant: what is gone is never restored from or built on again; a pending
// checkpoint that builds on it is refused by FinishCheckpoint.
void CommitProtocol::CheckpointRemoved(const std::string& checkpoint) {
  std::erase(checkpoints_, checkpoint);
}

}  // namespace pstrain
