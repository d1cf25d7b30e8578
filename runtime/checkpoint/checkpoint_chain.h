#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {

/// A checkpoint together with the checkpoints that it builds on (CheckpointManifest.base), as one
/// whole. A value; any thread may read.
class CheckpointChain {
 public:
  /// Reads the manifests. The checkpoint's own: errors as ReadManifest. Of a checkpoint below it:
  /// DATA_LOSS, which names it and says what is wrong (missing, damaged, of another run); an error
  /// of its disk keeps its code (checkpoint_file.h).
  static Result<CheckpointChain> Open(const std::string& checkpoint_directory);

  /// Of the checkpoint itself.
  const CheckpointManifest& manifest() const { return links_.front().manifest; }
  /// How many checkpoints it builds on.
  std::size_t bases() const { return links_.size() - 1; }

  /// The whole state of a shard, rows of tables ascending. DATA_LOSS names the checkpoint shard and
  /// says what is wrong; INVALID_ARGUMENT: no such shard; errors of the disk keep their codes.
  Result<ShardState> Read(ShardId shard) const;
  /// Sizes and checksums of every checkpoint shard that Read would read; DATA_LOSS as Read.
  Status Check() const;

 private:
  struct Link {
    std::string directory;
    CheckpointManifest manifest;
    std::vector<int> checkpoint_shard_of;  // by shard: position in manifest.checkpoint_shards
  };
  struct Located {
    const std::string* directory;
    const CheckpointShard* checkpoint_shard;
  };

  CheckpointChain() = default;
  static Link MakeLink(const std::string& directory, CheckpointManifest manifest);
  /// The checkpoint shards of a shard, newest first, down to one that is whole.
  Result<std::vector<Located>> CheckpointShardsOf(ShardId shard) const;

  std::vector<Link> links_;  // newest first
};

}  // namespace pstrain
