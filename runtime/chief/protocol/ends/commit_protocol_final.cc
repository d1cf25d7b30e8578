// The part of CommitProtocol that decides whether a final checkpoint is the end of the run, and
// whether one of a mark has all that came before it. Reports are what workers believe; here only
// what the shards say of themselves counts (rule 12).
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain {
namespace {

/// Final checkpoints that may lack work ids before the run fails: somebody reports again and again
/// what no shard has applied.
constexpr std::uint32_t kMostIncompleteFinals = 10;
/// Shards that a message names.
constexpr std::uint32_t kMostNamed = 8;

/// Rule 12. By shard: what it has left out and another shard has applied. It lacks the gradient of
/// these: a batch was computed a second time, from other values, and the worker that had the
/// gradient was lost in the middle of its push. Invariant: what all shards have left out is in none
/// of the lists, for that is agreed and complete; nor is what may stay so (WorkSource::MayDiffer).
/// REQUIRES: a checkpoint shard of every shard (CheckCheckpointShards).
std::map<ShardId, std::vector<WorkId>> LeftOutHalf(
    const std::vector<WrittenCheckpointShard>& checkpoint_shards, const WorkLedger& ledger) {
  std::map<WorkId, std::size_t> left_out;
  for (const WrittenCheckpointShard& written : checkpoint_shards) {
    for (const WorkId work_id : written.left_out) ++left_out[work_id];
  }
  std::map<ShardId, std::vector<WorkId>> half;
  for (const WrittenCheckpointShard& written : checkpoint_shards) {
    for (const WorkId work_id : written.left_out) {
      const bool may_differ = ledger.Valid(work_id) && ledger.MayDiffer(work_id);
      if (left_out[work_id] < checkpoint_shards.size() && !may_differ)
        half[written.shard].push_back(work_id);
    }
  }
  return half;
}

}  // namespace

// Rule 12. What a shard lacks is open again for that shard alone, as after a restore (rule 7): its
// applied set takes the place of what the reports had said of it. So is a batch that it has left
// out and another shard has not: in the end all have left it out, or none. Invariant: the run ends
// well only when every shard says itself that it has every work id, and the input's examples.
Status CommitProtocol::ProveComplete(const std::vector<WrittenCheckpointShard>& checkpoint_shards) {
  const std::string kind = checkpoint_->final ? "final checkpoint: " : "checkpoint of a mark: ";
  std::string lacking;
  std::uint32_t shards = 0;
  early_end_.Adopt(checkpoint_shards);
  std::map<ShardId, std::vector<WorkId>> left_out = LeftOutHalf(checkpoint_shards, ledger_);
  for (const WrittenCheckpointShard& written : checkpoint_shards) {
    const std::string name = "shard " + std::to_string(written.shard);
    if (!written.applied) {
      return AbortedError(kind + name + " does not say what it has applied");
    }
    if (const Status size = CheckEpochSize(written.shard, *written.applied); !size.ok()) {
      return DataLossError(kind + size.message());
    }
    const AppliedSet applied = written.applied->Without(left_out[written.shard]);
    // The last chunk may have fewer work ids than an applied set has places for.
    const auto missing =
        std::ranges::count_if(applied.Missing(ledger_.chunks()),
                              [this](WorkId work_id) { return ledger_.Valid(work_id); });
    if (missing > 0) {
      ledger_.SetShard(written.shard, applied);
      if (++shards > kMostNamed) continue;
      lacking += (lacking.empty() ? "" : ", ") + name + " lacks " + std::to_string(missing);
    } else if (written.examples != ledger_.examples_expected()) {
      return DataLossError(kind + name + " has every work id, but " +
                           std::to_string(written.examples) + " examples instead of " +
                           std::to_string(ledger_.examples_expected()) +
                           "; start a new run, and report this");
    }
  }
  if (shards == 0) return OkStatus();
  if (shards > kMostNamed) lacking += ", and " + std::to_string(shards - kMostNamed) + " more do";
  const std::string what = kind + lacking + " of " + std::to_string(ledger_.work_ids_expected()) +
                           " work ids, all of which workers had reported as applied";
  if (++incomplete_finals_ > kMostIncompleteFinals) {
    return DataLossError(what + "; given up after " + std::to_string(kMostIncompleteFinals) +
                         " further grants of them");
  }
  return AbortedError(what + "; they are granted again (" + std::to_string(incomplete_finals_) +
                      " of at most " + std::to_string(kMostIncompleteFinals) + " times)");
}

// Rules 7, 8 and 12, before a set is given to the ledger. Invariant: a bit of a set and a bit of
// the ledger at the same place stand for the same work id. In a set of another chunk size they do
// not, and the source would be asked for records that it does not have.
Status CommitProtocol::CheckEpochSize(ShardId shard, const AppliedSet& applied) const {
  if (applied.batches_per_epoch() == ledger_.chunk_size()) return OkStatus();
  return InvalidArgumentError(
      "the applied set of shard " + std::to_string(shard) + " is of " +
      std::to_string(applied.batches_per_epoch()) + " batches an epoch instead of " +
      std::to_string(ledger_.chunk_size()) + "; give all replicas the same job");
}

// Rules 7 and 8. The copy, or the checkpoint that it is from, may be of a time when the job had
// more epochs, or from before what is forgotten, where two newer checkpoints could not be read.
// Invariant: no shard is active that has work ids which the job does not have, as by rule 12 it
// could never be proven complete, nor one that lacks what nobody can do again.
bool CommitProtocol::BeyondTheRun(const ShardCopy& copy) {
  Status status = CheckEpochSize(copy.shard, copy.applied);
  if (status.ok()) {
    status = CheckEpochs(options_.epochs_field, ledger_.chunks(), copy.applied.EpochsBegun(),
                         "shard " + std::to_string(copy.shard) + " has " +
                             std::to_string(copy.examples) + " examples");
  }
  const std::uint64_t forgotten = ledger_.forgotten();
  if (status.ok() && !copy.applied.ContainsAllBelow(ledger_.IdOf(forgotten))) {
    status = DataLossError("no readable checkpoint is left to restore from: shard " +
                           std::to_string(copy.shard) +
                           " lacks calls that are kept no more, of the first " +
                           std::to_string(forgotten) + ", as two newer checkpoints had them");
  }
  if (!status.ok()) FailRun(status);
  return !status.ok();
}

// Rules 7 and 8, in the same words for a checkpoint, before any ps comes (chief_setup.cc), and for
// a copy. Invariant: a run goes on only where the job still has every epoch that was begun.
Status CheckEpochs(const std::string& field, std::uint32_t epochs, std::uint32_t begun,
                   const std::string& committed) {
  if (epochs >= begun) return OkStatus();
  if (field.empty()) {
    return InvalidArgumentError("there are " + std::to_string(epochs) +
                                " chunks of work, but the run has committed work of chunk " +
                                std::to_string(begun) + " (" + committed + "); start a new run");
  }
  return InvalidArgumentError(field + " is " + std::to_string(epochs) +
                              ", but the run has committed batches of epoch " +
                              std::to_string(begun) + " (" + committed + "); set it to at least " +
                              std::to_string(begun) + ", or start a new run");
}

// Rules 7 and 12. Invariant: a run fails once, with the first reason.
void CommitProtocol::FailRun(Status status) {
  if (!std::exchange(failed_, true)) actions_.emplace_back(FailAction{std::move(status)});
}

}  // namespace pstrain
