#include "runtime/checkpoint/retention.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "runtime/checkpoint/chief_epoch.h"
#include "runtime/checkpoint/manifest.h"

namespace pstrain {
namespace {

/// A cut whose manifest is damaged builds on nothing: nobody can read it anyway.
Status FindBases(const std::string& run_directory, std::vector<CutFolder>* folders) {
  for (CutFolder& folder : *folders) {
    if (!folder.finished) continue;
    const auto manifest = ReadManifest(CutDirectory(run_directory, folder.id));
    if (manifest.ok()) {
      folder.base = ParseCutName(manifest->base());
    } else if (manifest.status().code() != StatusCode::kDataLoss) {
      return manifest.status();
    }
  }
  return OkStatus();
}

/// The oldest cut that it builds on.
CutId RootOf(const std::vector<CutFolder>& folders, const CutFolder& folder) {
  CutId root = folder.id;
  std::optional<CutId> base = folder.base;
  while (base && *base < root) {
    root = *base;
    const auto found = std::ranges::find(folders, root, &CutFolder::id);
    base = found == folders.end() ? std::nullopt : found->base;
  }
  return root;
}

}  // namespace

std::vector<CutId> PlanRetention(const std::vector<CutFolder>& folders, const RetentionRule& rule) {
  std::vector<CutFolder> newest_first = folders;
  std::sort(newest_first.begin(), newest_first.end(),
            [](const CutFolder& a, const CutFolder& b) { return a.id > b.id; });
  const std::uint32_t keep = std::max(rule.keep, 2u);
  std::uint32_t kept = 0;
  std::set<CutId> roots;
  // A base is older than what builds on it, so all that need a cut come before it.
  std::set<CutId> needed = rule.pinned;
  std::vector<CutId> removable;
  for (const CutFolder& folder : newest_first) {
    bool expendable = folder.id.epoch < rule.chief_epoch;
    if (folder.finished) {
      const CutId root = RootOf(newest_first, folder);
      expendable = kept >= keep && (roots.size() > 1 || roots.contains(root));
      if (!expendable) roots.insert(root);
      ++kept;
    }
    if (!expendable || folder.id.epoch > rule.chief_epoch || needed.contains(folder.id)) {
      if (folder.base) needed.insert(*folder.base);
      continue;
    }
    removable.push_back(folder.id);
  }
  std::reverse(removable.begin(), removable.end());
  return removable;
}

Result<std::vector<CutId>> ApplyRetention(const std::string& run_directory,
                                          const RetentionRule& rule) {
  PSTRAIN_ASSIGN_OR_RETURN(auto folders, ListCutFolders(run_directory));
  PSTRAIN_RETURN_IF_ERROR(FindBases(run_directory, &folders));
  std::vector<CutId> removable = PlanRetention(folders, rule);
  PSTRAIN_RETURN_IF_ERROR(CheckChiefEpoch(run_directory, rule.chief_epoch));
  // From the newest: a crash in between leaves no cut without its base.
  for (const CutId& id : removable | std::views::reverse)
    PSTRAIN_RETURN_IF_ERROR(RemoveCut(run_directory, id));
  return removable;
}

}  // namespace pstrain
