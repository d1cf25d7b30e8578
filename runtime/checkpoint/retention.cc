#include "runtime/checkpoint/retention.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/manifest.h"

namespace pstrain {
namespace {

/// The oldest checkpoint that it builds on.
CheckpointId RootOf(const std::vector<CheckpointFolder>& folders, const CheckpointFolder& folder) {
  CheckpointId root = folder.id;
  std::optional<CheckpointId> base = folder.base;
  while (base && *base < root) {
    root = *base;
    const auto found = std::ranges::find(folders, root, &CheckpointFolder::id);
    base = found == folders.end() ? std::nullopt : found->base;
  }
  return root;
}

}  // namespace

Status FindBases(const std::string& run_directory, const std::set<CheckpointId>& pinned,
                 std::vector<CheckpointFolder>* folders) {
  std::set<CheckpointId> known;
  for (const CheckpointFolder& folder : *folders) known.insert(folder.id);
  const auto add = [&](CheckpointId id) -> Status {
    if (!known.insert(id).second) return OkStatus();
    PSTRAIN_ASSIGN_OR_RETURN(const CheckpointFolder found, FindCheckpoint(run_directory, id));
    if (found.finished) folders->push_back(found);
    return OkStatus();
  };
  for (const CheckpointId& id : pinned) PSTRAIN_RETURN_IF_ERROR(add(id));
  std::size_t next = 0;
  while (next < folders->size()) {
    CheckpointFolder& folder = (*folders)[next++];
    if (!folder.finished) continue;
    const auto manifest = ReadManifest(CheckpointDirectory(run_directory, folder.id));
    if (manifest.status().code() == StatusCode::kDataLoss) continue;
    PSTRAIN_RETURN_IF_ERROR(manifest.status());
    const std::optional<CheckpointId> base = ParseCheckpointName(manifest->base());
    folder.base = base;
    // Ends the life of `folder`.
    if (base) PSTRAIN_RETURN_IF_ERROR(add(*base));
  }
  return OkStatus();
}

std::vector<CheckpointId> PlanRetention(const std::vector<CheckpointFolder>& folders,
                                        const RetentionRule& rule) {
  std::vector<CheckpointFolder> newest_first = folders;
  std::sort(newest_first.begin(), newest_first.end(),
            [](const CheckpointFolder& a, const CheckpointFolder& b) { return a.id > b.id; });
  const std::uint32_t keep = std::max(rule.keep, 2u);
  std::uint32_t kept = 0;
  std::set<CheckpointId> roots;
  // A base is older than what builds on it, so all that need a checkpoint come before it.
  std::set<CheckpointId> needed = rule.pinned;
  std::vector<CheckpointId> removable;
  for (const CheckpointFolder& folder : newest_first) {
    bool expendable = folder.id.chief_term < rule.chief_term;
    const bool forsaken = expendable && rule.only_pinned_of_former;
    if (folder.finished && !forsaken) {
      const CheckpointId root = RootOf(newest_first, folder);
      expendable = kept >= keep && (roots.size() > 1 || roots.contains(root));
      if (!expendable) roots.insert(root);
      ++kept;
    }
    if (!expendable || folder.id.chief_term > rule.chief_term || needed.contains(folder.id)) {
      if (folder.base) needed.insert(*folder.base);
      continue;
    }
    removable.push_back(folder.id);
  }
  std::reverse(removable.begin(), removable.end());
  return removable;
}

Result<std::vector<CheckpointId>> ApplyRetention(const std::string& run_directory,
                                                 const RetentionRule& rule) {
  PSTRAIN_ASSIGN_OR_RETURN(auto folders, ListCheckpointFolders(run_directory));
  PSTRAIN_RETURN_IF_ERROR(FindBases(run_directory, rule.pinned, &folders));
  std::vector<CheckpointId> removable = PlanRetention(folders, rule);
  PSTRAIN_RETURN_IF_ERROR(CheckChiefTerm(run_directory, {rule.chief_term, rule.chief_id}));
  // From the newest: a crash in between leaves no checkpoint without its base.
  for (const CheckpointId& id : removable | std::views::reverse)
    PSTRAIN_RETURN_IF_ERROR(RemoveCheckpoint(run_directory, id));
  return removable;
}

}  // namespace pstrain
