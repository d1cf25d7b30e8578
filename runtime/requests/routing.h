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

/// Words mod a number of shards, without a division for each word: a mask where the number is a
/// power of two, as in most jobs, else two products (Lemire, Kaser and Kurz 2019, Faster remainder
/// by direct computation: with 128 bits of the reciprocal it is exact for every word). A value.
class ShardModulus {
 public:
  constexpr explicit ShardModulus(std::uint32_t shards)
      : shards_(shards), reciprocal_(~Word128{0} / shards + 1) {}

  constexpr std::uint32_t shards() const { return shards_; }
  constexpr ShardId Of(std::uint64_t word) const {
    if (std::has_single_bit(shards_)) return static_cast<ShardId>(word & (shards_ - 1));
    // What is left of the quotient behind its point, times the divisor.
    const Word128 fraction = reciprocal_ * word;
    const Word128 low = Word128{static_cast<std::uint64_t>(fraction)} * shards_;
    const Word128 high = (fraction >> 64) * shards_;
    return static_cast<ShardId>((high + (low >> 64)) >> 64);
  }

 private:
  // No ISO type: __extension__ admits it, and stands before no `using`.
  __extension__ typedef unsigned __int128 Word128;  // NOLINT(modernize-use-using)

  std::uint32_t shards_;
  Word128 reciprocal_;
};

/// The shard of a row of an embedding table: Mix64(route, row) mod shards. Inline, so that a loop
/// over rows computes only once what they have in common.
constexpr ShardId ShardOfRow(std::uint64_t route, std::uint64_t row, const ShardModulus& shards) {
  return shards.Of(Mix64(route, row));
}
/// Of a single one.
constexpr ShardId ShardOfRow(std::uint64_t route, std::uint64_t row, std::uint32_t shards) {
  return static_cast<ShardId>(Mix64(route, row) % shards);
}

/// The shard of a partition of a dense variable: from one that the name chooses on, partition after
/// partition, so that two of one variable meet only where there are more of them than shards.
constexpr ShardId ShardOfPartition(std::uint64_t route, std::uint32_t partition,
                                   std::uint32_t shards) {
  constexpr std::uint64_t kFirst = ~std::uint64_t{0};  // no row
  return static_cast<ShardId>((Mix64(route, kFirst) % shards + partition) % shards);
}

}  // namespace pstrain
