#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {

/// What the file of one shard in a checkpoint holds. Little-endian, every part at a multiple of 8:
///
///   "PSTPIECE", u32 version = 6, u32 shard, u64 term.chief_term, u64 term.counter, i64 examples,
///   i64 skipped, i64 non_finite, u32 incremental (0 or 1), u32 left out, u32 dense, u32 tables,
///   u32 variables, u32 0, u64 bytes of the applied set, applied set (AppliedSet::Serialize)
///   u64 epoch * 2^32 + batch x left out, ascending
///   dense  x {u32 variable, u32 partition, u32 slots, u32 dtype, u64 elements, values,
///             slots x {u64 elements, slot}}
///   tables x {u32 variable, u32 dimension, u32 slots, u32 dtype, u64 rows, u64 key x rows, values,
///             slots x {u64 elements, slot}}
///
/// Rows ascend by key; each has the same share of the elements of a slot. Free functions; any
/// thread.
std::string SerializeCheckpointShard(const ShardState& state);

/// DATA_LOSS when the parts do not fit each other or the size, keys or work ids do not ascend, or
/// it is of another version, which the message names.
/// What it allocates is bounded by the size of `bytes`.
Result<ShardState> ParseCheckpointShard(std::string_view bytes);

}  // namespace pstrain
