#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/checkpoint/cuts.h"

namespace pstrain {

struct RetentionRule {
  /// Finished cuts to keep; less than 2 counts as 2.
  std::uint32_t keep = 2;
  /// Epoch of the chief that asks: nothing of a higher one is deleted.
  std::uint64_t chief_epoch = 0;
  /// Cuts that someone reads.
  std::set<CutId> pinned;
};

/// What may go, oldest first: finished cuts that are not among the newest `keep`, and unfinished
/// folders of lower chief epochs; never a pinned one, never one of a higher epoch, and never one
/// that a cut which stays builds on, directly or through others. When all that would stay build on
/// one whole cut, the newest that does not stays too: one damaged file never spoils all. Pure.
std::vector<CutId> PlanRetention(const std::vector<CutFolder>& folders, const RetentionRule& rule);

/// Deletes what PlanRetention names, newest first, and returns it. ABORTED, with nothing deleted,
/// when a higher chief epoch exists; other errors name the path.
Result<std::vector<CutId>> ApplyRetention(const std::string& run_directory,
                                          const RetentionRule& rule);

}  // namespace pstrain
