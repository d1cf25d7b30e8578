#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace pstrain {

/// A shard: the unit of ownership and movement of parameters. 0 <= id < strategy.shards.
using ShardId = std::uint32_t;

/// A variable's id: its position in the chief's declaration.
using VariableId = std::uint32_t;

/// A batch of the input. `batch` counts through the epoch: the batches of block 0, then block 1,
/// ... (the input index maps it to block and place in the block and back), so a token of the
/// architecture's (epoch, block, batch) is these two numbers.
struct Token {
  std::uint32_t epoch = 0;
  std::uint32_t batch = 0;
  friend auto operator<=>(const Token&, const Token&) = default;
};

/// An assignment of a shard to a ps: the chief's epoch, then a counter of that chief. Higher is
/// newer.
struct Term {
  std::uint64_t epoch = 0;
  std::uint64_t counter = 0;
  friend auto operator<=>(const Term&, const Term&) = default;
};

/// A life of one process of the job. A ps' is issued by the chief.
using Incarnation = std::uint64_t;

}  // namespace pstrain

template <>
struct std::hash<pstrain::Token> {
  std::size_t operator()(const pstrain::Token& t) const noexcept {
    return std::hash<std::uint64_t>{}((std::uint64_t{t.epoch} << 32) | t.batch);
  }
};
