#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/checkpoint.pb.h"
#include "runtime/ps/shard_state.h"

namespace pstrain {

/// The file of one shard in a cut, `shard-<id>`; piece_format.h says what is in it. Free functions;
/// any thread, one writer per file.

/// Writes the shard into `directory`, which exists: a temporary name, fsync, rename. Its name
/// is durable once who wrote the pieces has fsynced the directory, once for all of them. Errors
/// name the path (RESOURCE_EXHAUSTED: full disk, PERMISSION_DENIED, ...) and leave no file of that
/// name.
Result<CutPiece> WritePiece(const std::string& directory, const ShardState& state);

/// Reads a piece and compares it with what the manifest says of it. DATA_LOSS says what differs:
/// missing, truncated (or longer), corrupt, of another shard or term.
Result<ShardState> ReadPiece(const std::string& directory, const CutPiece& piece);

/// Only size and checksum, as ReadPiece.
Status CheckPiece(const std::string& directory, const CutPiece& piece);

}  // namespace pstrain
