#include "runtime/checkpoint/newest_checkpoint.h"

#include "base/os/files.h"

namespace pstrain {
namespace {

std::string PathIn(const std::string& run_directory) {
  return JoinPath(run_directory, "newest-checkpoint");
}

Result<std::optional<CheckpointId>> Named(const std::string& run_directory) {
  const Result<std::string> text = ReadFile(PathIn(run_directory));
  if (text.status().code() == StatusCode::kNotFound) return std::optional<CheckpointId>();
  if (!text.ok()) return text.status();
  return ParseCheckpointName(*text);
}

}  // namespace

Status NoteNewestCheckpoint(const std::string& run_directory, CheckpointId id) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::optional<CheckpointId> named, Named(run_directory));
  // Of a chief that has taken over since.
  if (named && *named > id) return OkStatus();
  return WriteFileAtomically(PathIn(run_directory), CheckpointName(id));
}

Result<std::optional<CheckpointId>> NotedNewestCheckpoint(const std::string& run_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::optional<CheckpointId> named, Named(run_directory));
  if (!named) return named;
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointFolder found, FindCheckpoint(run_directory, *named));
  return found.finished ? named : std::nullopt;
}

}  // namespace pstrain
