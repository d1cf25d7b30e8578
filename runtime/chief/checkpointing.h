#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/peers/evaluator_peer.h"
#include "runtime/chief/peers/ps_peers.h"
#include "runtime/chief/run_numbers.h"

namespace pstrain {

/// Takes the checkpoints of a run: decides when one is due, has the ps write their checkpoint
/// shards, puts the manifest in place, deletes what is old. One checkpoint at a time. A checkpoint
/// exists from the moment at which its manifest is renamed; whatever goes wrong before, it is
/// abandoned and its folder removed. Touches the run's directory; speaks to ps through PsPeers. The
/// chief's lock guards it: one thread at a time.
class Checkpointing {
 public:
  /// `ps` and `evaluator` outlive it.
  Checkpointing(const ChiefDependencies& chief, PsPeers& ps, const EvaluatorPeer& evaluator);

  /// True when one is to be started: all is committed, a ps that leaves needs one, the restored
  /// state is to be evaluated, a drain is not covered yet, or by steps or seconds of the job.
  bool Due() const;
  void Start();
  /// Places or abandons the one in progress, once every ps has answered; else does nothing.
  void Finish();
  /// Not OK after 5 failures in a row: the directory is not usable. Only failures count that no
  /// peer has caused.
  Status Failure() const;

  bool in_progress() const { return in_progress_.has_value(); }
  /// The newest one in place, also of former chiefs.
  const std::optional<CheckpointId>& newest() const { return newest_; }
  /// All that is committed is in the newest one.
  bool Covered() const;
  /// Manifest of the final one, which holds every batch of every epoch; and since when it is there.
  const std::optional<CheckpointManifest>& final_manifest() const { return final_; }
  std::optional<ProtocolTime> final_since() const {
    return final_ ? std::optional(final_since_) : std::nullopt;
  }
  /// By this chief.
  std::uint64_t placed() const { return placed_; }
  /// Of the newest one.
  const AppliedCounts& applied() const { return applied_; }

 private:
  struct InProgress {
    CheckpointId id;
    CheckpointPlan plan;
    std::vector<CheckpointShard> checkpoint_shards;
    /// Of a final one: what each shard says that it has applied.
    std::map<ShardId, AppliedSet> applied;
    /// Answers of ps that are awaited.
    std::size_t pending = 0;
    std::uint64_t work_ids = 0;
    Status status;
    // Of the manifest in place.
    std::string base;
    std::uint64_t bytes = 0;
  };

  void ShardsWritten(const CheckpointId& id, const Result<WriteCheckpointShardsReply>& reply);
  CheckpointManifest MakeManifest() const;
  Status PlaceManifest();
  void Abandon(const Status& status);
  void Retain();

  const ChiefDependencies chief_;
  PsPeers& ps_;
  const EvaluatorPeer& evaluator_;
  std::optional<InProgress> in_progress_;
  std::uint64_t next_number_ = 1;
  std::optional<CheckpointId> newest_;
  std::optional<CheckpointManifest> final_;
  ProtocolTime final_since_{};
  /// When the last one was started.
  ProtocolTime last_;
  std::uint64_t work_ids_at_newest_ = 0;
  std::uint64_t placed_ = 0;
  int failures_ = 0;
  Status error_;
  AppliedCounts applied_;
};

}  // namespace pstrain
