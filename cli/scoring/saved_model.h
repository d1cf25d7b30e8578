#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// A checkpoint of built-in training, and what it was made by. A value; any thread may read it.
struct SavedModel {
  /// Its folder.
  std::string checkpoint_directory;
  /// What of the job cannot change: the model, the features, the input (FixedPart).
  Training training;
  /// On what the job evaluates, with paths of this machine; nothing when it does not, or when the
  /// model was named by a folder, which does not know it.
  std::optional<Input> evaluation_input;
  /// One line per newer checkpoint that was passed over because it is damaged.
  std::vector<std::string> warnings;
};

/// How a command line names a model.
struct ModelName {
  /// A job that was run here, by its name, or the folder of a run or of a checkpoint.
  std::string run;
  /// `<chief term>-<number>`; "latest": the newest good one; "best": that of
  /// runtime/checkpoint/evaluations.h. Empty: the best where the run keeps one, else the latest.
  std::string checkpoint = {};
  std::string state_dir = ".pstrain";
};

/// Finds and checks the checkpoint (OpenCheckpoint). NOT_FOUND: there is no such run or checkpoint;
/// FAILED_PRECONDITION: it was made by a program, which alone knows its model; INVALID_ARGUMENT: a
/// name that is none; otherwise as OpenCheckpoint. Reads files only; any thread.
Result<SavedModel> OpenSavedModel(const ModelName& name);

}  // namespace pstrain
