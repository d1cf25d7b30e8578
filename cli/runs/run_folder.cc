#include "cli/runs/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/os/files.h"
#include "cli/arguments.h"
#include "local/replicas/last_run.h"
#include "proto/contract/run_files.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/manifest.h"

namespace pstrain {
namespace {

/// Null when the file is not there.
Result<Json> ReadObject(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (text.status().code() == StatusCode::kNotFound) return Json::Null();
  if (!text.ok()) return text.status();
  Result<Json> json = ParseJson(*text);
  if (!json.ok()) return DataLossError(path + " is damaged: " + json.status().message());
  if (!json->is_object()) return DataLossError(path + " is damaged: it is no object");
  return json;
}

/// Fills in what the files of the folder say.
Status ReadInto(RunEntry& run) {
  PSTRAIN_ASSIGN_OR_RETURN(run.checkpoints, CheckpointsOf(run.directory, Check::kManifests));
  run.state = "Finished";
  PSTRAIN_ASSIGN_OR_RETURN(run.result, ReadObject(JoinPath(run.directory, kRunResultFile)));
  if (!run.result.is_null()) return OkStatus();
  run.state = "Stopped";
  PSTRAIN_ASSIGN_OR_RETURN(run.result, ReadObject(JoinPath(run.directory, kRunStoppedFile)));
  if (run.result.is_null()) run.state = "Unfinished";
  return OkStatus();
}

/// The runs of one job, of which some may be in `here` as another job's.
Status AddRunsOf(const std::string& job, const local::LastRun& last, RunsHere& here) {
  if (!IsDirectory(last.checkpoint_directory)) return OkStatus();
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<RunEntry> runs, RunsIn(last.checkpoint_directory));
  for (RunEntry& run : runs) {
    run.job = job;
    run.last = run.run_id == last.run_id;
    const auto known = std::ranges::find(here.runs, run.directory, &RunEntry::directory);
    if (known == here.runs.end()) {
      here.runs.push_back(std::move(run));
    } else if (run.last && !known->last) {
      *known = std::move(run);
    }
  }
  return OkStatus();
}

/// The folder as last_run.h has those of runs: absolute.
std::string Absolute(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(folder, error);
  return WithoutSlash(error ? folder : path.lexically_normal().string());
}

Status NotThere(const std::string& state_dir, const std::string& name) {
  const Result<local::LastRun> last = local::ReadLastRun(JoinPath(state_dir, name));
  if (last.status().code() == StatusCode::kDataLoss) return last.status();
  if (!last.ok()) {
    return NotFoundError(name + " is no job and no run id of " + state_dir +
                         ", and no folder of a run; pstrain runs list shows what there is");
  }
  if (last->checkpoint_directory.empty()) {
    return NotFoundError("the last run of job " + name +
                         " has no folder: its job has no checkpoint directory");
  }
  return NotFoundError("the last run of job " + name + ", " + last->run_id + ", is not in " +
                       last->checkpoint_directory +
                       ": its chief had not begun it yet, or it was removed or moved; pstrain runs "
                       "list shows what there is");
}

}  // namespace

Result<std::vector<CheckpointEntry>> CheckpointsOf(const std::string& run_directory, Check check) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CheckpointId> ids, ListCheckpoints(run_directory));
  std::vector<CheckpointEntry> entries;
  for (const CheckpointId id : ids) {
    CheckpointEntry& entry = entries.emplace_back();
    entry.id = id;
    entry.directory = CheckpointDirectory(run_directory, id);
    Result<CheckpointManifest> manifest =
        check == Check::kAll ? OpenCheckpoint(entry.directory, {}) : ReadManifest(entry.directory);
    if (!manifest.ok()) {
      entry.problem = manifest.status().message();
      continue;
    }
    entry.manifest = std::move(manifest).value();
    for (const CheckpointShard& shard : entry.manifest.checkpoint_shards()) {
      entry.bytes += shard.bytes();
    }
  }
  return entries;
}

bool IsRunFolder(const std::string& directory) {
  if (directory.ends_with(kDeletedSuffix)) return false;
  if (IsDirectory(JoinPath(directory, "checkpoints"))) return true;
  const Result<std::uint64_t> term = HighestChiefTerm(directory);
  return term.ok() && *term > 0;
}

Result<RunEntry> ReadRun(const std::string& directory) {
  RunEntry run;
  run.directory = WithoutSlash(directory);
  if (!IsRunFolder(run.directory)) {
    return NotFoundError(run.directory + " is no folder of a run: no chief has begun one there");
  }
  run.run_id = BaseName(run.directory);
  const Status read = ReadInto(run);
  if (!read.ok()) {
    run.state = "Damaged";
    run.problem = read.message();
  }
  return run;
}

Result<std::vector<RunEntry>> RunsIn(const std::string& checkpoint_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           ListDirectory(checkpoint_directory));
  std::vector<RunEntry> runs;
  for (const std::string& name : names) {
    Result<RunEntry> run = ReadRun(JoinPath(checkpoint_directory, name));
    // A folder of something else, or a run that was removed meanwhile.
    if (run.status().code() == StatusCode::kNotFound) continue;
    if (!run.ok()) return run.status();
    runs.push_back(std::move(run).value());
  }
  return runs;
}

Result<RunsHere> ListRunsHere(const std::string& state_dir) {
  const Result<std::vector<std::string>> jobs = ListDirectory(state_dir);
  if (jobs.status().code() == StatusCode::kNotFound) {
    return NotFoundError("nothing was run with --state-dir " + state_dir +
                         ", which does not exist; give the one that pstrain run was given, or go "
                         "to the folder in which it was called");
  }
  if (!jobs.ok()) return jobs.status().WithContext("--state-dir " + state_dir);
  RunsHere here;
  for (const std::string& job : *jobs) {
    const Result<local::LastRun> last = local::ReadLastRun(JoinPath(state_dir, job));
    if (last.status().code() == StatusCode::kNotFound) continue;
    const Status added = last.ok() ? AddRunsOf(job, *last, here) : last.status();
    if (!added.ok()) here.problems.push_back("job " + job + ": " + added.message());
  }
  std::ranges::sort(here.runs, {},
                    [](const RunEntry& run) { return std::tie(run.job, run.run_id); });
  return here;
}

Result<RunEntry> FindRunEntry(const std::string& state_dir, const std::string& name) {
  Result<RunsHere> here = ListRunsHere(state_dir);
  if (here.ok()) {
    const std::string folder = Absolute(name);
    for (RunEntry& run : here->runs) {
      if ((run.job == name && run.last) || run.run_id == name || run.directory == folder) {
        return std::move(run);
      }
    }
  } else if (here.status().code() != StatusCode::kNotFound) {
    return here.status();
  }
  if (IsRunFolder(WithoutSlash(name))) return ReadRun(name);
  return here.ok() ? NotThere(state_dir, name)
                   : NotFoundError(name + " is no folder of a run, and " + here.status().message());
}

}  // namespace pstrain
