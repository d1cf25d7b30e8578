#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {

/// Which checkpoints are deleted, and their deletion (rule 10 of ARCHITECTURE.md, "The commit
/// protocol"). Nothing is kept between calls: any thread, one at a time for one run directory.

/// What deletion leaves alone, and on whose behalf it deletes.
struct RetentionRule {
  /// Finished checkpoints to keep; less than 2 counts as 2.
  std::uint32_t keep = 2;
  /// Term of the chief that asks: nothing of a higher one is deleted.
  std::uint64_t chief_term = 0;
  /// Checkpoints that someone reads.
  std::set<CheckpointId> pinned;
  /// ChiefTerm::id of that chief; 0: not compared.
  std::uint64_t chief_id = 0;
  /// Of former chiefs only the pinned ones stay: what else they have left is of no history that
  /// goes on (histories.h), and counts among the kept no more.
  bool only_pinned_of_former = false;
};

/// Sets `base` of each finished folder, from its manifest, and adds what the listing `folders` does
/// not show yet: the pinned checkpoints, and whatever any of them builds on, directly or through
/// others. A base that is listed while what builds on it is not would otherwise be deleted. One
/// whose manifest is damaged builds on nothing: nobody can read it. Errors name the path;
/// NOT_FOUND: a finished one has no manifest any more.
Status FindBases(const std::string& run_directory, const std::set<CheckpointId>& pinned,
                 std::vector<CheckpointFolder>* folders);

/// What may go, oldest first: finished checkpoints that are not among the newest `keep`, and
/// unfinished folders of lower chief terms; never a pinned one, never one of a higher term, and
/// never one that a checkpoint which stays builds on, directly or through others. When all that
/// would stay build on one full checkpoint, the newest that does not stays too: one damaged file
/// never spoils all. Pure.
std::vector<CheckpointId> PlanRetention(const std::vector<CheckpointFolder>& folders,
                                        const RetentionRule& rule);

/// Deletes what PlanRetention names, newest first, and returns it. ABORTED, with nothing deleted,
/// when CheckChiefTerm says so; other errors name the path.
Result<std::vector<CheckpointId>> ApplyRetention(const std::string& run_directory,
                                                 const RetentionRule& rule);

}  // namespace pstrain
