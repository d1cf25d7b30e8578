#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {

/// The file of one shard in a checkpoint, `shard-<id>`; checkpoint_shard_format.h says what is in
/// it. Free functions; any thread, one writer per file.

/// Writes the shard into `directory`, which exists: a temporary name, fsync, rename. Its name is
/// durable once who wrote the checkpoint shards has fsynced the directory, once for all of them.
/// Errors name the path (RESOURCE_EXHAUSTED: full disk, PERMISSION_DENIED, ...) and leave no file
/// of that name.
Result<CheckpointShard> WriteCheckpointShard(const std::string& directory, const ShardState& state);

/// Reads a checkpoint shard and compares it with what the manifest says of it. DATA_LOSS says what
/// differs: missing, truncated (or longer), corrupt, of another shard or term. An error of the disk
/// keeps its code and proves nothing (checkpoint_file.h).
Result<ShardState> ReadCheckpointShard(const std::string& directory,
                                       const CheckpointShard& checkpoint_shard);

/// Only size and checksum, as ReadCheckpointShard.
Status CheckCheckpointShard(const std::string& directory, const CheckpointShard& checkpoint_shard);

}  // namespace pstrain
