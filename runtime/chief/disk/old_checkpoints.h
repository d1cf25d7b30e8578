#pragma once

#include <set>
#include <vector>

#include "base/status.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief_dependencies.h"

namespace pstrain {

/// Removes checkpoints of the run: those that were abandoned, and those that are not kept any more
/// (rule 10). The work is the disk's; what fails is tried again with the next one. The chief's lock
/// guards it: one thread at a time.
class OldCheckpoints {
 public:
  explicit OldCheckpoints(const ChiefDependencies& chief) : chief_(chief) {}

  /// An abandoned one, unless another chief has taken the run: it may have begun there.
  void Remove(const CheckpointId& id);
  /// All that the rule of the job does not keep, but for `pinned`. The protocol is told of each.
  void Retain(std::set<CheckpointId> pinned);

 private:
  void Retained(const Result<std::vector<CheckpointId>>& removed);

  const ChiefDependencies chief_;
  /// Abandoned ones whose folders could not be removed yet.
  std::vector<CheckpointId> leftovers_;
};

}  // namespace pstrain
