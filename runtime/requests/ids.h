#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace pstrain {

/// What names things on the data plane and in checkpoints. Values; any thread.

/// A shard: the unit of ownership and movement of parameters. 0 <= id < strategy.shards.
using ShardId = std::uint32_t;

/// A variable's id: its position in the chief's declaration.
using VariableId = std::uint32_t;

/// A batch of the input. `batch` counts through the epoch: the batches of block 0, then block 1,
/// ... (the input index maps it to block and place in the block and back), so a work id of the
/// architecture's (epoch, block, batch) is these two numbers.
///
/// Work of a program has no epochs: it is numbered from 0, and there `epoch` is the number of a
/// chunk of ClosureSource::kChunkSize work ids, `batch` the position in it. What compares, sorts or
/// stores work ids needs no difference; what speaks of passes over the input does.
struct WorkId {
  std::uint32_t epoch = 0;
  std::uint32_t batch = 0;
  friend auto operator<=>(const WorkId&, const WorkId&) = default;
};

/// An assignment of a shard to a ps: the chief's term, then a counter of that chief. Higher is
/// newer.
struct ShardTerm {
  std::uint64_t chief_term = 0;
  std::uint64_t counter = 0;
  friend auto operator<=>(const ShardTerm&, const ShardTerm&) = default;
};

/// A shard under one of its terms: what a report, a checkpoint or a move is about. Under another
/// term the shard may have other values and another applied set.
struct ShardInTerm {
  ShardId shard = 0;
  ShardTerm term;
  friend bool operator==(const ShardInTerm&, const ShardInTerm&) = default;
};

/// A life of one process of the job. A ps' is issued by the chief.
using Incarnation = std::uint64_t;

}  // namespace pstrain

template <>
struct std::hash<pstrain::WorkId> {
  std::size_t operator()(const pstrain::WorkId& t) const noexcept {
    return std::hash<std::uint64_t>{}((std::uint64_t{t.epoch} << 32) | t.batch);
  }
};
