#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"

namespace pstrain {

/// The file that makes a folder of checkpoint shards a checkpoint. The functions keep nothing: any
/// thread, one at a time for the writing of one checkpoint. Those with a directory take as long as
/// the disk takes.

/// Version of the full checkpoint's format that this code writes and reads.
inline constexpr std::uint32_t kCheckpointFormatVersion = 4;

/// Makes the checkpoint exist: the checkpoint shards' names are made durable, the manifest is
/// written under a temporary name and fsynced, `last_check` is asked (a higher chief term, a
/// changed term: its error is returned and nothing is renamed), then the manifest is renamed into
/// place and the directories are fsynced. The file: "PSTMANIF", u32 CRC-32C of the rest, u32 0, the
/// serialised message. `format_version` is set here. Errors name the path.
Status WriteManifest(const std::string& checkpoint_directory, CheckpointManifest manifest,
                     const std::function<Status()>& last_check);

/// The content of a manifest's file. DATA_LOSS when it is damaged or contradicts itself (not
/// exactly one checkpoint shard per shard), FAILED_PRECONDITION for another format version.
Result<CheckpointManifest> ParseManifest(std::string_view bytes);

/// As ParseManifest; NOT_FOUND without a manifest (an unfinished checkpoint). Errors name the path;
/// those of the disk keep their codes (checkpoint_file.h).
Result<CheckpointManifest> ReadManifest(const std::string& checkpoint_directory);

}  // namespace pstrain
