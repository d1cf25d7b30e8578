#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/disk/marks.h"
#include "runtime/chief/disk/old_checkpoints.h"
#include "runtime/chief/peers/evaluator_peer.h"
#include "runtime/chief/peers/ps_peers.h"
#include "runtime/chief/run_numbers.h"

namespace pstrain {

/// Takes the checkpoints of a run: decides when one is due, has the ps write their checkpoint
/// shards, puts the manifest in place. One checkpoint at a time. A checkpoint
/// exists from the moment at which its manifest is renamed; whatever goes wrong before, it is
/// abandoned and its folder removed. A failed one is tried again after 1, 2, 4 .. 30 s (1 s while
/// somebody waits for it to stop), for as long as it takes: a disk that is full for ten minutes
/// costs checkpoints, not the job. One whose shards have got new terms meanwhile has not failed; a
/// ps that refuses a shard in the term in which it owns it has to register again. Touches the run's
/// directory through Disk; speaks to ps through PsPeers. The chief's lock guards it: one thread at
/// a time.
class Checkpointing {
 public:
  /// `ps` and `evaluator` outlive it.
  Checkpointing(const ChiefDependencies& chief, PsPeers& ps, const EvaluatorPeer& evaluator);

  /// True when one is to be started: all is committed, a mark or a ps that leaves needs one, the
  /// restored state is to be evaluated, a drain is not covered yet, or by steps or seconds of the
  /// job.
  bool Due() const;
  void Start();
  /// Places or abandons the one in progress, once every ps has answered; else does nothing.
  void Finish();
  CheckpointProblem problem() const;
  /// Names in the log a checkpoint that takes longer than a minute, and whom it waits for.
  void Watch();

  bool in_progress() const { return in_progress_.has_value(); }
  /// The run ends with what is there now: a final one is in place or in progress. One in progress
  /// may still be abandoned.
  bool ends_run() const { return final_ || (in_progress_ && in_progress_->plan.final); }
  /// The newest one in place, also of former chiefs.
  const std::optional<CheckpointId>& newest() const { return newest_; }
  /// All that is committed is in the newest one.
  bool Covered() const;
  /// Manifest of the final one, which holds every batch that the run is to have; and since when it
  /// is there.
  const std::optional<CheckpointManifest>& final_manifest() const { return final_; }
  std::optional<ProtocolTime> final_since() const {
    return final_ ? std::optional(final_since_) : std::nullopt;
  }
  /// This process was paused for so long: the final one's evaluation could not come meanwhile.
  void ForgiveGap(std::chrono::nanoseconds gap);
  /// By this chief.
  std::uint64_t placed() const { return placed_; }
  /// As in RunNumbers.
  std::uint64_t BatchesReopened() const;
  /// Of the newest one.
  const AppliedCounts& applied() const { return applied_; }
  /// What a program wants of them.
  Marks& marks() { return marks_; }

 private:
  struct InProgress {
    CheckpointId id;
    CheckpointPlan plan;
    std::vector<CheckpointShard> checkpoint_shards;
    /// Of a final one: what each shard says that it has applied.
    std::map<ShardId, ShardCopy> copies;
    /// ps whose answers are awaited.
    std::set<std::uint32_t> pending;
    /// The disk works on it: its folder is made, or its manifest put in place.
    bool with_disk = true;
    bool warned = false;
    /// The mark that it is taken for; 0: none.
    Marks::Number mark = 0;
    /// A ps has refused a shard that it owns.
    bool refused = false;
    std::uint64_t work_ids = 0;
    /// Of the catalog, when it was started.
    std::uint32_t generation = 0;
    Status status;
    // Of the manifest in place.
    std::string base;
    std::uint64_t bytes = 0;
  };

  void HaveShardsWritten(const CheckpointId& id, const Status& folder);
  void ShardsWritten(const CheckpointId& id, std::uint32_t ps,
                     const Result<WriteCheckpointShardsReply>& reply);
  /// The ps still owns all that the checkpoint in progress has of it, in the same terms.
  bool StillOwns(const CheckpointPlan::Ps& ps) const;
  /// A ps does not have in its term what the checkpoint in progress wants of it.
  void NotInTerm(std::uint32_t ps, const Status& status);
  /// ABORTED: variables were declared since the one in progress was started.
  Status OfThisGeneration() const;
  /// What the checkpoint in progress was started for holds no more, and nobody has failed.
  bool Overtaken() const;
  std::vector<WrittenCheckpointShard> Written() const;
  CheckpointManifest MakeManifest() const;
  void PlaceManifest();
  void PublishNewest(const CheckpointManifest& manifest);
  void NoteNewest(CheckpointId id);
  void ManifestPlaced(Status status, const CheckpointManifest& manifest);
  void Abandon(const Status& status);
  void Retain();
  /// A mark is wanted, and every shard has what it is to have.
  bool MarkDue() const { return marks_.wanted() != 0 && chief_.protocol.AllCommitted(); }
  /// The one in progress is of a mark for which nobody waits.
  bool MarkGivenUp() const {
    return in_progress_->mark != 0 && in_progress_->mark != marks_.wanted();
  }
  std::chrono::nanoseconds Pause() const;

  const ChiefDependencies chief_;
  PsPeers& ps_;
  const EvaluatorPeer& evaluator_;
  Marks marks_;
  OldCheckpoints old_;
  std::optional<InProgress> in_progress_;
  std::uint64_t next_number_ = 1;
  std::optional<CheckpointId> newest_;
  std::optional<CheckpointManifest> final_;
  ProtocolTime final_since_{};
  /// When the last one was started.
  ProtocolTime last_;
  std::uint64_t work_ids_at_newest_ = 0;
  std::uint64_t placed_ = 0;
  /// Of those that failed one after the other: how many, since when, why, and how long to wait.
  int failures_ = 0;
  ProtocolTime failing_since_{};
  Status error_;
  Backoff pauses_;
  std::chrono::nanoseconds pause_{0};
  ProtocolTime failed_at_{};
  /// When the newest one was placed.
  ProtocolTime newest_since_;
  AppliedCounts applied_;
};

}  // namespace pstrain
