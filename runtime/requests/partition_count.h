#pragma once

#include <algorithm>
#include <cstdint>

namespace pstrain {

/// How many partitions along axis 0 the three rules of tf.distribute.experimental.partitioners make
/// of a variable with `rows` rows. spec.training and programs of users divide by these, so that
/// both are divided as TensorFlow divides. Pure functions; any thread. REQUIRES: rows and bytes >=
/// 0, limits >= 1, and rows * row_bytes fits.

/// The quotient of two numbers >= 0, rounded up, without the overflow of (a + b - 1) / b.
constexpr std::int64_t CeilDiv(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// So many, but no more than rows: 0 of a variable without rows.
constexpr std::int64_t FixedShardsCount(std::int64_t rows, std::int64_t shards) {
  return std::min(shards, rows);
}

/// Partitions of about `min_shard_bytes`, max_shards at most; 1 of a variable without rows. The
/// count is rounded up, so that a partition may be smaller than that.
constexpr std::int64_t MinSizeCount(std::int64_t rows, std::int64_t row_bytes,
                                    std::int64_t min_shard_bytes, std::int64_t max_shards) {
  const std::int64_t fitting = CeilDiv(rows * row_bytes, min_shard_bytes);
  return std::max<std::int64_t>(1, std::min({rows, max_shards, fitting}));
}

/// Partitions of `max_shard_bytes` at most, where one row is not larger; 0 `max_shards` is no
/// limit. REQUIRES: rows and row_bytes >= 1.
constexpr std::int64_t MaxSizeCount(std::int64_t rows, std::int64_t row_bytes,
                                    std::int64_t max_shard_bytes, std::int64_t max_shards) {
  const std::int64_t rows_per_shard = std::max<std::int64_t>(1, max_shard_bytes / row_bytes);
  const std::int64_t needed = CeilDiv(rows, rows_per_shard);
  return max_shards == 0 ? needed : std::min(needed, max_shards);
}

/// Rows [begin, begin + size).
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t size = 0;
};

/// Partition `i` of `count`: their sizes differ by one row at most, the longer ones come first. As
/// ShardedVariable divides, and strategy "div" of tf.nn.embedding_lookup. REQUIRES: 0 <= i < count.
constexpr RowRange PartitionRows(std::int64_t rows, std::int64_t count, std::int64_t i) {
  const std::int64_t longer = rows % count;
  return {i * (rows / count) + std::min(i, longer), rows / count + (i < longer ? 1 : 0)};
}

}  // namespace pstrain
