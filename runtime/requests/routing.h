#pragma once

#include <cstdint>

#include "base/random.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// The shard of a row of an embedding table: Mix64(variable, row) mod shards. It is part of every
/// checkpoint's meaning: it must never change. Pure; any thread. REQUIRES: shards > 0.
constexpr ShardId ShardOfRow(VariableId variable, std::uint64_t row, std::uint32_t shards) {
  return static_cast<ShardId>(Mix64(variable, row) % shards);
}

}  // namespace pstrain
