#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {

/// The runs on this machine as their folders show them. Reads files and keeps nothing; any thread.

/// A checkpoint of a run.
struct CheckpointEntry {
  CheckpointId id;
  std::string directory;
  /// What its manifest says; without a content where there is a problem.
  CheckpointManifest manifest;
  /// Of its checkpoint shards.
  std::uint64_t bytes = 0;
  /// Why it cannot be read; empty: it can.
  std::string problem;
};

/// Whether the checksums of a checkpoint are looked at, which takes as long as reading it does.
enum class Check : bool { kManifests, kAll };

/// The finished checkpoints in the folder of a run, oldest first. Errors: ListCheckpoints.
Result<std::vector<CheckpointEntry>> CheckpointsOf(const std::string& run_directory, Check check);

/// A run of built-in training or of a program.
struct RunEntry {
  /// Its job, where a job of --state-dir is kept there; else empty.
  std::string job;
  std::string run_id;
  std::string directory;
  /// It is what the name of the job stands for.
  bool last = false;
  /// result.json, or stopped.json of a run that was stopped; null for one that is neither.
  Json result;
  /// "Finished", "Stopped", "Unfinished", which is also one that is running, or "Damaged".
  std::string state;
  /// Of a damaged run: what of it cannot be read.
  std::string problem;
  std::vector<CheckpointEntry> checkpoints;
};

/// Behind the name of a folder that is being removed.
inline constexpr const char* kDeletedSuffix = ".deleted";

/// A chief has begun a run in that folder, or it has the checkpoints of one; and it is not being
/// removed.
bool IsRunFolder(const std::string& directory);

/// One run by its folder. NOT_FOUND: it is no folder of a run.
Result<RunEntry> ReadRun(const std::string& directory);
/// Every run of a checkpoint directory (spec.training.checkpoint.directory), by run id. Errors of
/// the file system.
Result<std::vector<RunEntry>> RunsIn(const std::string& checkpoint_directory);

/// The runs of the jobs that were run with one --state-dir.
struct RunsHere {
  /// By job and run id. Where two jobs share a checkpoint directory, a run is of the job whose last
  /// run it is, else of the first of them.
  std::vector<RunEntry> runs;
  /// A line for each job whose runs cannot be listed.
  std::vector<std::string> problems;
};
/// NOT_FOUND: nothing was run with that --state-dir.
Result<RunsHere> ListRunsHere(const std::string& state_dir);
/// A run by the name of a job that was run here (the last run of it), by its run id, or by its
/// folder. NOT_FOUND says where was looked.
Result<RunEntry> FindRunEntry(const std::string& state_dir, const std::string& name);

}  // namespace pstrain
