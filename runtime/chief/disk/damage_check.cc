#include "runtime/chief/disk/damage_check.h"

#include <optional>

#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {

Status ReadToRestore(const std::string& run_directory, const AssignShardsAction& action) {
  const std::optional<CheckpointId> id = ParseCheckpointName(action.checkpoint);
  if (!id) return InternalError("checkpoint " + action.checkpoint + " has no name of one");
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointChain chain,
                           CheckpointChain::Open(CheckpointDirectory(run_directory, *id)));
  for (const ShardAssignment& assignment : action.shards) {
    if (assignment.source != AssignSource::kRestore) continue;
    PSTRAIN_RETURN_IF_ERROR(chain.Read(assignment.shard).status());
  }
  return OkStatus();
}

}  // namespace pstrain
