#include "runtime/checkpoint/retention.h"

#include <algorithm>

#include "runtime/checkpoint/chief_epoch.h"

namespace pstrain {

std::vector<CutId> PlanRetention(const std::vector<CutFolder>& folders, const RetentionRule& rule) {
  std::vector<CutFolder> newest_first = folders;
  std::sort(newest_first.begin(), newest_first.end(),
            [](const CutFolder& a, const CutFolder& b) { return a.id > b.id; });
  const std::uint32_t keep = std::max(rule.keep, 2u);
  std::uint32_t kept = 0;
  std::vector<CutId> removable;
  for (const CutFolder& folder : newest_first) {
    const bool expendable = folder.finished ? kept++ >= keep : folder.id.epoch < rule.chief_epoch;
    if (!expendable || folder.id.epoch > rule.chief_epoch || rule.pinned.contains(folder.id)) {
      continue;
    }
    removable.push_back(folder.id);
  }
  std::reverse(removable.begin(), removable.end());
  return removable;
}

Result<std::vector<CutId>> ApplyRetention(const std::string& run_directory,
                                          const RetentionRule& rule) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto folders, ListCutFolders(run_directory));
  std::vector<CutId> removable = PlanRetention(folders, rule);
  PSTRAIN_RETURN_IF_ERROR(CheckChiefEpoch(run_directory, rule.chief_epoch));
  for (const CutId& id : removable) PSTRAIN_RETURN_IF_ERROR(RemoveCut(run_directory, id));
  return removable;
}

}  // namespace pstrain
