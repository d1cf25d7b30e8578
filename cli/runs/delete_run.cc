#include "cli/runs/delete_run.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "local/history/run_recorder.h"
#include "local/replicas/last_run.h"
#include "local/replicas/workspace.h"

namespace pstrain {
namespace {

/// No run of the job begins while that is there.
Result<local::Workspace> Hold(const std::string& state_dir, const std::string& job,
                              const RunEntry& run) {
  Result<local::Workspace> workspace = local::Workspace::Open(state_dir, job);
  if (workspace.status().code() != StatusCode::kFailedPrecondition) return workspace;
  return FailedPreconditionError(
      run.run_id + " is not deleted: job " + job + " is running, and its run is " +
      (job == run.job ? "this one or lies beside it"
                      : "kept in the same checkpoint directory, " + ParentPath(run.directory)) +
      "; wait for it, or stop it");
}

/// All jobs that keep their runs where this one is.
Result<std::vector<local::Workspace>> HoldAll(const std::string& state_dir, const RunEntry& run) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, ListDirectory(state_dir));
  std::vector<local::Workspace> held;
  for (const std::string& job : jobs) {
    const Result<local::LastRun> last = local::ReadLastRun(JoinPath(state_dir, job));
    if (last.status().code() == StatusCode::kNotFound) continue;
    // One whose file is damaged may keep them there.
    if (last.ok() && last->checkpoint_directory != ParentPath(run.directory)) continue;
    PSTRAIN_ASSIGN_OR_RETURN(local::Workspace workspace, Hold(state_dir, job, run));
    held.push_back(std::move(workspace));
  }
  return held;
}

std::int64_t NewestOf(const RunEntry& run) {
  std::int64_t newest = 0;
  for (const CheckpointEntry& checkpoint : run.checkpoints) {
    newest = std::max(newest, checkpoint.manifest.created_unix_ms());
  }
  return newest;
}

/// Empty: no run is left, or another one is the last.
Result<std::string> TakeAnotherLast(const std::string& state_dir, const RunEntry& deleted) {
  const std::string workspace = JoinPath(state_dir, deleted.job);
  PSTRAIN_ASSIGN_OR_RETURN(const local::LastRun last, local::ReadLastRun(workspace));
  if (last.run_id != deleted.run_id) return std::string();
  PSTRAIN_ASSIGN_OR_RETURN(RunsHere left, ListRunsHere(state_dir));
  std::erase_if(left.runs, [&](const RunEntry& run) { return run.job != deleted.job; });
  const auto newest = std::ranges::max_element(left.runs, {}, NewestOf);
  if (newest == left.runs.end()) {
    PSTRAIN_RETURN_IF_ERROR(RemoveAll(JoinPath(workspace, "run.json")));
    return std::string();
  }
  PSTRAIN_RETURN_IF_ERROR(
      local::WriteLastRun(workspace, deleted.job, {newest->run_id, ParentPath(newest->directory)}));
  return newest->run_id;
}

}  // namespace

Result<std::string> DeleteRun(const std::string& state_dir, const RunEntry& run) {
  if (run.job.empty()) {
    return FailedPreconditionError(run.directory + " is of no job that was run with --state-dir " +
                                   state_dir +
                                   ", so that nobody knows whether it is in use; give the "
                                   "--state-dir of its job, or remove the folder yourself");
  }
  // Held until the end.
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<local::Workspace> held, HoldAll(state_dir, run));
  // Renamed first, so that a half-removed run is none.
  const std::string removed = run.directory + kDeletedSuffix;
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(removed));
  PSTRAIN_RETURN_IF_ERROR(RenameFile(run.directory, removed));
  PSTRAIN_ASSIGN_OR_RETURN(const std::string last, TakeAnotherLast(state_dir, run));
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(removed));
  const std::string workspace = JoinPath(state_dir, run.job);
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(local::HistoryFile(workspace, run.run_id)));
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(local::ReportFile(workspace, run.run_id)));
  return last;
}

}  // namespace pstrain
