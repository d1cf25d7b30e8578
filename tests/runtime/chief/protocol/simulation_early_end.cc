// Runs that end before all is granted, as spec.training.earlyStopping lets them.
#include <algorithm>

#include "tests/runtime/chief/protocol/simulation.h"

namespace pstrain {

// As the shell does: grants wait, the decision goes to the disk, and only then it holds. Each of
// these may be the last thing that a chief does.
bool Simulation::DecideEnd(Process process) {
  Chief& chief = *chiefs_.at(process);
  EarlyEnd& end = chief.protocol.early_end();
  if (!chief.deciding) {
    const bool may = !end.begun() && !disk_end_ && chief.protocol.AllActive() &&
                     !chief.protocol.draining() && !chief.checkpoint;
    if (!may || !Chance(100)) return true;
    AppliedSet granted = end.Granted();
    if (mutations_.early_end_forgets_granted) {
      granted = AppliedSet(run_.input.batches_per_epoch);
      for (const WorkId work_id : work_ids_) {
        if (chief.protocol.Committed(work_id)) granted.Insert(work_id);
      }
    }
    if (end.LeavesSomething(granted)) chief.deciding = std::move(granted);
    return true;
  }
  if (!Chance(4)) return true;
  const bool superseded = chief.term < disk_term_;
  if (superseded || (Faulty() && Chance(4))) {  // Dies before the rename.
    chiefs_.erase(process);
    return false;
  }
  ++result_.early_ends;
  disk_end_ = chief.deciding;
  given_at_end_ = chief.given;
  if (Faulty() && Chance(4)) {  // Dies after the rename.
    chiefs_.erase(process);
    return false;
  }
  end.Begin(*disk_end_);
  chief.deciding.reset();
  return true;
}

// Once the end is on disk, nobody begins what nobody has had before. What was kept for a worker
// that is lost counts as granted.
void Simulation::CheckBeyondEnd(const Chief& chief, const std::vector<GrantedWorkId>& grants) {
  if (chief.term < disk_term_) return;  // What it grants comes to nothing.
  for (const GrantedWorkId& grant : grants) {
    const bool known =
        !disk_end_ || disk_end_->Contains(grant.work_id) || ever_granted_.contains(grant.work_id);
    if (!known) Violated("a work id is granted that is beyond the early end");
  }
}

// What was granted when the run ended is applied, and every shard has the same.
void Simulation::CheckEarlyEnd(const Checkpoint& checkpoint) {
  const AppliedSet& first = checkpoint.checkpoint_shards.begin()->second.applied;
  const auto lacks = [&first](WorkId work_id) { return !first.Contains(work_id); };
  if (std::ranges::any_of(given_at_end_, lacks)) {
    Violated("the final checkpoint lacks what was granted before the early end");
  }
  for (const WorkId work_id : work_ids_) {
    if (lacks(work_id) && disk_end_->Contains(work_id)) {
      Violated("the final checkpoint lacks a work id of the early end");
    }
    for (const auto& [shard, copy] : checkpoint.checkpoint_shards) {
      if (copy.applied.Contains(work_id) == first.Contains(work_id)) continue;
      Violated("shards of the final checkpoint go apart after an early end");
    }
  }
}

}  // namespace pstrain
