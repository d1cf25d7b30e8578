#include "cli/scoring/saved_model.h"

#include <utility>

#include "base/os/files.h"
#include "cli/arguments.h"
#include "cli/runs/run_folder.h"
#include "local/replicas/last_run.h"
#include "proto/job/job_manifest.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/evaluations.h"

namespace pstrain {
namespace {

/// Where a run's checkpoints are, and what is known of its job beside.
struct FoundRun {
  std::string directory;
  std::optional<Input> evaluation_input;
};

/// As the replicas see it; nothing where that is not known any more.
std::optional<Input> EvaluationInput(const std::string& workspace) {
  const Result<PSTrainingJob> job =
      LoadJobManifest(JoinPath(workspace, "job.json"), {.allow_test_only = true});
  if (!job.ok() || !job->spec().training().has_evaluation()) return std::nullopt;
  return job->spec().training().evaluation().input();
}

Result<FoundRun> FindRun(const ModelName& name) {
  const std::string folder = WithoutSlash(name.run);
  if (IsRunFolder(folder)) return FoundRun{folder, std::nullopt};
  const std::string workspace = JoinPath(name.state_dir, name.run);
  const Result<local::LastRun> last = local::ReadLastRun(workspace);
  if (last.status().code() == StatusCode::kNotFound) {
    const Result<RunEntry> by_id = FindRunEntry(name.state_dir, name.run);
    if (by_id.ok()) return FoundRun{by_id->directory, std::nullopt};
    return NotFoundError(name.run + " is no folder of a run or of a checkpoint, and no job of " +
                         "this name was run here: " + last.status().message() +
                         "; give the name of a job, its --state-dir, a run id, or a folder");
  }
  if (!last.ok()) return last.status();
  if (last->checkpoint_directory.empty()) {
    return NotFoundError("the last run of job " + name.run + " has no checkpoints");
  }
  return FoundRun{JoinPath(last->checkpoint_directory, last->run_id), EvaluationInput(workspace)};
}

Result<SavedModel> ModelOf(std::string directory, const CheckpointManifest& manifest) {
  if (!manifest.job().has_training()) {
    return FailedPreconditionError(directory +
                                   " was made by a program of your own, which alone knows its "
                                   "model; score records in that program");
  }
  SavedModel model;
  model.checkpoint_directory = std::move(directory);
  model.training = manifest.job().training();
  return model;
}

}  // namespace

Result<SavedModel> OpenSavedModel(const ModelName& name) {
  const std::string folder = WithoutSlash(name.run);
  if (FileExists(JoinPath(folder, "manifest"))) {
    if (!name.checkpoint.empty() && name.checkpoint != "latest") {
      return InvalidArgumentError(folder + " is a checkpoint; leave --checkpoint out");
    }
    PSTRAIN_ASSIGN_OR_RETURN(const CheckpointManifest manifest, OpenCheckpoint(folder, {}));
    return ModelOf(folder, manifest);
  }
  PSTRAIN_ASSIGN_OR_RETURN(FoundRun run, FindRun(name));
  PSTRAIN_ASSIGN_OR_RETURN(GoodCheckpoint found,
                           FindNamedCheckpoint(run.directory, name.checkpoint, "--checkpoint"));
  PSTRAIN_ASSIGN_OR_RETURN(SavedModel model, ModelOf(found.directory, found.manifest));
  model.evaluation_input = std::move(run.evaluation_input);
  model.warnings = std::move(found.warnings);
  return model;
}

}  // namespace pstrain
