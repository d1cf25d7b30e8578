#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// The checkpoints of a run on disk: their names, their folders, and which of them is good. The
/// functions keep nothing between calls; any thread may call them. Only the chief with the highest
/// chief term makes and removes folders (chief_term.h).

/// A checkpoint of a run. Ordered by chief term, then number: higher is newer.
struct CheckpointId {
  std::uint64_t chief_term = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const CheckpointId&, const CheckpointId&) = default;
};

/// "<chief term>-<number>", the folder's name below <run>/checkpoints, and back (nullopt for
/// anything else).
std::string CheckpointName(CheckpointId id);
std::optional<CheckpointId> ParseCheckpointName(std::string_view name);

/// <run>/checkpoints/<chief term>-<number>.
std::string CheckpointDirectory(const std::string& run_directory, CheckpointId id);

/// Makes the folder of a new checkpoint and returns its path; ALREADY_EXISTS when it is there.
Result<std::string> CreateCheckpointDirectory(const std::string& run_directory, CheckpointId id);

/// Removes a checkpoint: the manifest first, so that half of it never looks like a checkpoint. OK
/// when absent.
Status RemoveCheckpoint(const std::string& run_directory, CheckpointId id);

/// What a listing knows of a checkpoint without reading its manifest.
struct CheckpointFolder {
  CheckpointId id;
  /// It has a manifest.
  bool finished = false;
  /// The checkpoint that it builds on, where that was asked for (retention.h).
  std::optional<CheckpointId> base = std::nullopt;
};
/// That checkpoint, asked for by its name, which no stale listing hides. Not finished when there is
/// none.
Result<CheckpointFolder> FindCheckpoint(const std::string& run_directory, CheckpointId id);
/// All folders of checkpoints, oldest first; other names are passed over. With the newest also
/// where a listing does not show it yet (newest_checkpoint.h). None when nothing was written yet.
Result<std::vector<CheckpointFolder>> ListCheckpointFolders(const std::string& run_directory);
/// Those with a manifest, oldest first.
Result<std::vector<CheckpointId>> ListCheckpoints(const std::string& run_directory);

/// What a checkpoint must be of; empty or absent: anything.
struct CheckpointExpectation {
  std::string run_id;
  /// Names, kinds, shapes, optimizers and partitions must be these; those of later generations than
  /// the checkpoint's may be missing in it.
  std::optional<std::vector<VariableSpec>> variables;
  std::optional<std::uint32_t> shards;
  std::optional<std::uint64_t> batches_per_epoch;
  /// Its fixed fields (proto/job/fixed_fields.h) must be those of this specification.
  std::optional<JobSpec> job;
};

/// Reads the manifest and checks the size and checksum of every checkpoint shard, also of those in
/// the checkpoints that it builds on. DATA_LOSS names the checkpoint shard and what differs
/// (missing, truncated, corrupt); FAILED_PRECONDITION names the run, variable or number that is not
/// as expected.
Result<CheckpointManifest> OpenCheckpoint(const std::string& checkpoint_directory,
                                          const CheckpointExpectation& expectation);

/// A checkpoint that has been read and checked, and what was wrong with newer ones.
struct GoodCheckpoint {
  CheckpointId id;
  std::string directory;
  CheckpointManifest manifest;
  /// One line per newer checkpoint that was passed over.
  std::vector<std::string> warnings;
};
/// What else of a checkpoint has to be good: of the folder with that manifest.
using CheckpointTest =
    std::function<Status(const std::string& directory, const CheckpointManifest& manifest)>;
/// The first of `ids`, which are newest first, that OpenCheckpoint and `test` accept, passing over
/// bad ones. A null `test` accepts all. Errors as NewestGoodCheckpoint.
Result<GoodCheckpoint> FirstGoodCheckpoint(const std::string& run_directory,
                                           const std::vector<CheckpointId>& ids,
                                           const CheckpointExpectation& expectation,
                                           const CheckpointTest& test);
/// The newest checkpoint that OpenCheckpoint accepts, passing over bad ones. NOT_FOUND when the run
/// has no checkpoint, DATA_LOSS when it has some and none is good (the message says why, for each).
/// FAILED_PRECONDITION at once when a checkpoint is of another run or of other variables: older
/// ones will not be better. Any other code: a disk that fails now, nothing is known to be damaged;
/// try again.
Result<GoodCheckpoint> NewestGoodCheckpoint(const std::string& run_directory,
                                            const CheckpointExpectation& expectation);

}  // namespace pstrain
