#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/checkpoint.pb.h"
#include "runtime/ps/shard_state.h"

namespace pstrain {

/// The file of one shard in a cut, `shard-<id>`. Little-endian, every part at a multiple of 8:
///
///   "PSTPIECE", u32 version = 2, u32 shard, u64 term.epoch, u64 term.counter, i64 examples,
///   u32 incremental (0 or 1), u32 0, u32 dense, u32 tables,
///   u64 bytes of the applied set, applied set (AppliedSet::Serialize)
///   dense  x {u32 variable, u32 partition, u32 slots, u32 0, u64 floats, values, slot...}
///   tables x {u32 variable, u32 dimension, u32 slots, u32 0, u64 rows, u64 key x rows, values,
///   slot...}
///
/// Rows ascend by key. Free functions; any thread, one writer per file.

/// The content of the file, and back. DATA_LOSS says why the bytes are not one.
std::string EncodePiece(const ShardState& state);
Result<ShardState> ParsePiece(std::string_view bytes);

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
