#include "runtime/checkpoint/checkpoints.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

#include "base/os/files.h"
#include "base/text/parse_number.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "runtime/checkpoint/newest_checkpoint.h"

namespace pstrain {
namespace {

std::string CheckpointsDirectory(const std::string& run_directory) {
  return JoinPath(run_directory, "checkpoints");
}

// The first difference by name: that says which field of the job was changed, where a difference of
// two lists would not.
Status CheckVariables(const CheckpointManifest& manifest,
                      const std::vector<VariableSpec>& expected) {
  const auto count = static_cast<std::size_t>(manifest.variables_size());
  for (std::size_t i = 0; i < std::max(count, expected.size()); ++i) {
    if (i >= count) {
      // Declared since: a restored shard has its initial values.
      if (expected[i].generation() > manifest.generation()) continue;
      return FailedPreconditionError("it lacks variable " + expected[i].name());
    }
    const VariableSpec& found = manifest.variables(static_cast<int>(i));
    if (i >= expected.size()) {
      return FailedPreconditionError("its variable " + found.name() + " is not of this model");
    }
    if (found.name() != expected[i].name()) {
      return FailedPreconditionError("its variable " + std::to_string(i) + " is " + found.name() +
                                     ", not " + expected[i].name());
    }
    if (!google::protobuf::util::MessageDifferencer::Equals(found, expected[i])) {
      return FailedPreconditionError("its variable " + found.name() +
                                     " has another shape, initializer, optimizer or partitioning");
    }
  }
  return OkStatus();
}

// FAILED_PRECONDITION all of it, never DATA_LOSS: such a checkpoint is whole, but of something
// else. To pass it over, as a damaged one is, would start a run from an older state in silence. The
// fields of the job come before shards and variables, which follow from them.
Status CheckExpectation(const CheckpointManifest& manifest,
                        const CheckpointExpectation& expectation) {
  if (!expectation.run_id.empty() && manifest.run_id() != expectation.run_id) {
    return FailedPreconditionError("it is of run " + manifest.run_id() + ", not of " +
                                   expectation.run_id + "; move it out of this run's folder");
  }
  if (expectation.job) {
    if (!manifest.has_job()) {
      return FailedPreconditionError(
          "its manifest does not say of which model, features and input it is; start a new run");
    }
    PSTRAIN_RETURN_IF_ERROR(CheckFixed(manifest.job(), *expectation.job));
  }
  if (expectation.shards && manifest.shards() != *expectation.shards) {
    return FailedPreconditionError("it has " + std::to_string(manifest.shards()) + " shards, not " +
                                   std::to_string(*expectation.shards));
  }
  if (expectation.batches_per_epoch &&
      manifest.batches_per_epoch() != *expectation.batches_per_epoch) {
    return FailedPreconditionError("its epochs have " +
                                   std::to_string(manifest.batches_per_epoch()) + " batches, not " +
                                   std::to_string(*expectation.batches_per_epoch));
  }
  if (expectation.variables) return CheckVariables(manifest, *expectation.variables);
  return OkStatus();
}

}  // namespace

std::string CheckpointName(CheckpointId id) {
  return std::to_string(id.chief_term) + "-" + std::to_string(id.number);
}

std::optional<CheckpointId> ParseCheckpointName(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto chief_term = ParseNumber<std::uint64_t>(name.substr(0, dash));
  const auto number = ParseNumber<std::uint64_t>(name.substr(dash + 1));
  if (!chief_term || !number) return std::nullopt;
  const CheckpointId id{*chief_term, *number};
  // One spelling for each id: "01-2" is a folder of somebody else.
  if (CheckpointName(id) != name) return std::nullopt;
  return id;
}

std::string CheckpointDirectory(const std::string& run_directory, CheckpointId id) {
  return JoinPath(CheckpointsDirectory(run_directory), CheckpointName(id));
}

Result<std::string> CreateCheckpointDirectory(const std::string& run_directory, CheckpointId id) {
  const std::string directory = CheckpointDirectory(run_directory, id);
  const Status found = GetFileInfo(directory).status();
  if (found.ok()) return AlreadyExistsError("create " + directory + ": it is there");
  // What cannot be seen now may be there.
  if (found.code() != StatusCode::kNotFound) return found;
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory));
  return directory;
}

// The manifest first, and synced: whatever a crash leaves of the rest is then an unfinished
// checkpoint, which nobody restores from, and not a finished one that lacks files.
Status RemoveCheckpoint(const std::string& run_directory, CheckpointId id) {
  const std::string directory = CheckpointDirectory(run_directory, id);
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(JoinPath(directory, "manifest")));
  const Status synced = FsyncDirectory(directory);
  if (synced.code() == StatusCode::kNotFound) return OkStatus();
  PSTRAIN_RETURN_IF_ERROR(synced);
  return RemoveAll(directory);
}

Result<CheckpointFolder> FindCheckpoint(const std::string& run_directory, CheckpointId id) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const bool finished,
      CheckpointFileExists(JoinPath(CheckpointDirectory(run_directory, id), "manifest")));
  return CheckpointFolder{id, finished};
}

Result<std::vector<CheckpointFolder>> ListCheckpointFolders(const std::string& run_directory) {
  auto names = ListDirectory(CheckpointsDirectory(run_directory));
  if (names.status().code() == StatusCode::kNotFound) names = std::vector<std::string>();
  if (!names.ok()) return names.status();
  std::vector<CheckpointFolder> folders;
  for (const std::string& name : *names) {
    const auto id = ParseCheckpointName(name);
    if (!id) continue;
    PSTRAIN_ASSIGN_OR_RETURN(const CheckpointFolder folder, FindCheckpoint(run_directory, *id));
    folders.push_back(folder);
  }
  // A network file system may list the folder as it was: the newest is found by its name then.
  PSTRAIN_ASSIGN_OR_RETURN(const auto newest, NotedNewestCheckpoint(run_directory));
  const auto is_newest = [&newest](const CheckpointFolder& folder) { return folder.id == newest; };
  if (newest && std::ranges::none_of(folders, is_newest)) folders.push_back({*newest, true});
  std::sort(folders.begin(), folders.end(),
            [](const CheckpointFolder& a, const CheckpointFolder& b) { return a.id < b.id; });
  return folders;
}

Result<std::vector<CheckpointId>> ListCheckpoints(const std::string& run_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto folders, ListCheckpointFolders(run_directory));
  std::vector<CheckpointId> checkpoints;
  for (const CheckpointFolder& folder : folders) {
    if (folder.finished) checkpoints.push_back(folder.id);
  }
  return checkpoints;
}

Result<CheckpointManifest> OpenCheckpoint(const std::string& checkpoint_directory,
                                          const CheckpointExpectation& expectation) {
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointChain chain,
                           CheckpointChain::Open(checkpoint_directory));
  PSTRAIN_RETURN_IF_ERROR(CheckExpectation(chain.manifest(), expectation)
                              .WithContext("checkpoint " + checkpoint_directory));
  PSTRAIN_RETURN_IF_ERROR(chain.Check());
  return chain.manifest();
}

Result<GoodCheckpoint> FirstGoodCheckpoint(const std::string& run_directory,
                                           const std::vector<CheckpointId>& ids,
                                           const CheckpointExpectation& expectation,
                                           const CheckpointTest& test) {
  if (ids.empty()) return NotFoundError("no checkpoint in " + CheckpointsDirectory(run_directory));
  std::vector<std::string> warnings;
  for (const CheckpointId& id : ids) {
    const std::string directory = CheckpointDirectory(run_directory, id);
    auto manifest = OpenCheckpoint(directory, expectation);
    const Status tested = manifest.ok() && test ? test(directory, *manifest) : manifest.status();
    if (tested.ok()) {
      return GoodCheckpoint{id, directory, std::move(manifest).value(), std::move(warnings)};
    }
    if (tested.code() == StatusCode::kFailedPrecondition) return tested;
    // What a file system refuses now it may give later; an older checkpoint would lose work.
    if (!IsProvenDamage(tested)) return tested.WithContext("checkpoint " + CheckpointName(id));
    warnings.push_back("checkpoint " + CheckpointName(id) + " is passed over: " + tested.message());
  }
  std::string message = "no checkpoint in " + CheckpointsDirectory(run_directory) + " can be read";
  for (const std::string& warning : warnings) message += "; " + warning;
  return DataLossError(message + "; put a good copy back, or start a new run");
}

Result<GoodCheckpoint> NewestGoodCheckpoint(const std::string& run_directory,
                                            const CheckpointExpectation& expectation) {
  PSTRAIN_ASSIGN_OR_RETURN(auto checkpoints, ListCheckpoints(run_directory));
  std::ranges::reverse(checkpoints);
  return FirstGoodCheckpoint(run_directory, checkpoints, expectation, nullptr);
}

}  // namespace pstrain
