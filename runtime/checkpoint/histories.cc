#include "runtime/checkpoint/histories.h"

#include <limits>
#include <ranges>

#include "base/os/files.h"
#include "runtime/checkpoint/program_mark.h"

namespace pstrain {
namespace {

/// Of a history that begins with nothing.
constexpr const char* kNothing = "nothing";

std::string FileOf(const std::string& run_directory, std::uint64_t chief_term) {
  return JoinPath(JoinPath(run_directory, "histories"), std::to_string(chief_term));
}

/// Where a history begins.
struct History {
  std::uint64_t chief_term = 0;
  std::optional<CheckpointId> parent;
};

/// By its name, as a listing of a network file system may lack the newest; nothing where that chief
/// has ended before it began one.
Result<std::optional<History>> HistoryOf(const std::string& run_directory,
                                         std::uint64_t chief_term) {
  const std::string file = FileOf(run_directory, chief_term);
  const Result<std::string> text = ReadFile(file);
  if (text.status().code() == StatusCode::kNotFound) return std::optional<History>();
  if (!text.ok()) return text.status();
  if (*text == kNothing) return std::optional(History{chief_term, std::nullopt});
  const std::optional<CheckpointId> parent = ParseCheckpointName(*text);
  if (parent && parent->chief_term < chief_term) return std::optional(History{chief_term, parent});
  return DataLossError(file + " does not name the checkpoint that a chief has begun at: \"" +
                       text->substr(0, 100) + "\"; restore it or start a new run");
}

Result<std::optional<History>> LastHistoryBefore(const std::string& run_directory,
                                                 std::uint64_t chief_term) {
  for (std::uint64_t term = chief_term; term-- > 1;) {
    PSTRAIN_ASSIGN_OR_RETURN(const auto history, HistoryOf(run_directory, term));
    if (history) return history;
  }
  return std::optional<History>();
}

}  // namespace

Status NoteHistory(const std::string& run_directory, const ChiefTerm& term,
                   const std::optional<CheckpointId>& parent) {
  const std::string file = FileOf(run_directory, term.number);
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(ParentPath(file)));
  return WriteFileAtomically(file, parent ? CheckpointName(*parent) : kNothing,
                             [&] { return CheckChiefTerm(run_directory, term); });
}

Result<std::vector<CheckpointId>> MarksBefore(const std::string& run_directory,
                                              std::uint64_t chief_term) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(run_directory));
  PSTRAIN_ASSIGN_OR_RETURN(auto history, LastHistoryBefore(run_directory, chief_term));
  // Where the history was left: later ones of its chief are of none.
  std::uint64_t left_at = std::numeric_limits<std::uint64_t>::max();
  std::vector<CheckpointId> marks;
  while (history) {
    for (const CheckpointId& id : checkpoints | std::views::reverse) {
      if (id.chief_term != history->chief_term || id.number > left_at) continue;
      PSTRAIN_ASSIGN_OR_RETURN(const bool has, HasMark(CheckpointDirectory(run_directory, id)));
      if (has) marks.push_back(id);
    }
    if (!history->parent) break;
    left_at = history->parent->number;
    PSTRAIN_ASSIGN_OR_RETURN(history, HistoryOf(run_directory, history->parent->chief_term));
  }
  return marks;
}

Result<GoodMark> NewestGoodMark(const std::string& run_directory,
                                const std::vector<CheckpointId>& marks,
                                const CheckpointExpectation& expectation) {
  GoodMark good;
  const auto read_mark = [&good](const std::string& directory,
                                 const CheckpointManifest& manifest) -> Status {
    PSTRAIN_ASSIGN_OR_RETURN(good.mark, ReadMark(directory, manifest));
    return OkStatus();
  };
  PSTRAIN_ASSIGN_OR_RETURN(good.checkpoint,
                           FirstGoodCheckpoint(run_directory, marks, expectation, read_mark));
  return good;
}

}  // namespace pstrain
