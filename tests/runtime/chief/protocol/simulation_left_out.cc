// Batches that are left out because their gradient is not finite, and may be finite when they are
// computed again.
#include <map>

#include "tests/runtime/chief/protocol/simulation.h"

namespace pstrain {

// As Shard::Apply.
bool Simulation::Apply(Copy* copy, WorkId work_id, bool left_out) {
  if (copy->applied.Insert(work_id) || mutations_.ps_applies_duplicates) {
    copy->examples += run_.input.records(work_id.batch);
    if (left_out) {
      copy->left_out.insert(work_id);
    } else {
      AddGradient(copy, work_id);
    }
    return true;
  }
  const bool was_left_out = copy->left_out.contains(work_id);
  if (left_out || !was_left_out) return left_out == was_left_out;
  if (mutations_.left_out_for_good) return true;
  copy->left_out.erase(work_id);
  AddGradient(copy, work_id);
  return true;
}

// Rule 12: in the end all shards have left a work id out, or none.
void Simulation::CheckLeftOut(const Checkpoint& checkpoint) {
  std::map<WorkId, std::uint32_t> shards;
  for (const auto& [shard, copy] : checkpoint.checkpoint_shards) {
    for (const WorkId work_id : copy.left_out) ++shards[work_id];
  }
  for (const auto& [work_id, count] : shards) {
    if (count == run_.shards) ++result_.left_out;
    if (count < run_.shards) Violated("a work id is left out of some shards only");
  }
}

}  // namespace pstrain
