#include "runtime/chief/disk/old_checkpoints.h"

#include <utility>

#include "base/log.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/retention.h"

namespace pstrain {

void OldCheckpoints::Remove(const CheckpointId& id) {
  chief_.disk.Post("remove an abandoned checkpoint",
                   [this, id, term = chief_.setup.directory.term(),
                    run_directory = chief_.run.run_directory()]() -> Disk::Then {
                     Status removed = CheckChiefTerm(run_directory, term);
                     if (removed.ok()) removed = RemoveCheckpoint(run_directory, id);
                     return [this, id, removed] {
                       if (removed.ok()) return;
                       LogWarning("chief", "abandoned checkpoint stays", {{"error", removed}});
                       leftovers_.push_back(id);
                     };
                   });
}

void OldCheckpoints::Retain(std::set<CheckpointId> pinned) {
  RetentionRule rule;
  rule.keep = chief_.setup.job.checkpoints.keep;
  rule.chief_term = chief_.chief_term();
  rule.chief_id = chief_.setup.directory.term().id;
  rule.pinned = std::move(pinned);
  rule.only_pinned_of_former = chief_.setup.job.starts_over;
  chief_.disk.Post("delete old checkpoints",
                   [this, rule, leftovers = std::exchange(leftovers_, {}),
                    run_directory = chief_.run.run_directory()]() -> Disk::Then {
                     Result<std::vector<CheckpointId>> removed =
                         ApplyRetention(run_directory, rule);
                     for (const CheckpointId& id : leftovers) {
                       if (removed.status().code() == StatusCode::kAborted) break;
                       const Status gone = RemoveCheckpoint(run_directory, id);
                       if (!gone.ok() && removed.ok()) removed = gone;
                     }
                     return [this, removed, leftovers] {
                       if (!removed.ok())
                         leftovers_.insert(leftovers_.end(), leftovers.begin(), leftovers.end());
                       Retained(removed);
                     };
                   });
}

void OldCheckpoints::Retained(const Result<std::vector<CheckpointId>>& removed) {
  if (!removed.ok()) {
    LogWarning("chief", "old checkpoints stay", {{"error", removed.status()}});
    return;
  }
  for (const CheckpointId& id : *removed) chief_.protocol.CheckpointRemoved(CheckpointName(id));
}

}  // namespace pstrain
