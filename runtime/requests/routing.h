#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "base/text/fnv.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Where parameters lie, by the name of their variable alone: a variable that is declared later
/// moves none that exists. All of it is part of every checkpoint's meaning: it must never change.
/// Pure; any thread. REQUIRES: shards > 0.

/// What the shards of a variable follow from: FNV-1a of its name.
constexpr std::uint64_t RouteOf(std::string_view name) { return Fnv1a(name); }

/// The shard of a row of an embedding table: Mix64(route, row) mod shards. Inline, so that a loop
/// over rows computes only once what they have in common; most jobs have a power of two of shards,
/// which needs no division.
constexpr ShardId ShardOfRow(std::uint64_t route, std::uint64_t row, std::uint32_t shards) {
  const std::uint64_t word = Mix64(route, row);
  return static_cast<ShardId>(std::has_single_bit(shards) ? word & (shards - 1) : word % shards);
}

/// The shard of a partition of a dense variable: from one that the name chooses on, partition after
/// partition, so that two of one variable meet only where there are more of them than shards.
constexpr ShardId ShardOfPartition(std::uint64_t route, std::uint32_t partition,
                                   std::uint32_t shards) {
  constexpr std::uint64_t kFirst = ~std::uint64_t{0};  // no row
  return static_cast<ShardId>((Mix64(route, kFirst) % shards + partition) % shards);
}

}  // namespace pstrain
