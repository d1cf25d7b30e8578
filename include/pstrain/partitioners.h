#pragma once

#include <pstrain/dtype.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace pstrain {

/// Says into how many partitions a variable of some shape and dtype is divided along each axis;
/// only the first axis is ever divided. Mirrors
/// tf.distribute.experimental.partitioners.Partitioner. One that was made with a bad argument says
/// so by status(), which whoever takes one asks first. A value; any thread, as far as the function
/// of a custom one allows.
class Partitioner {
 public:
  /// One number of partitions for each axis.
  using Function = std::function<Result<std::vector<std::int64_t>>(const Shape&, DType)>;

  /// Divides nothing. Mirrors variable_partitioner=None.
  Partitioner() = default;
  /// One of the user's.
  template <typename Custom>
    requires(!std::same_as<std::remove_cvref_t<Custom>, Partitioner> &&
             std::is_invocable_r_v<Result<std::vector<std::int64_t>>, Custom&, const Shape&, DType>)
  Partitioner(Custom custom) : function_(std::move(custom)) {}
  /// One that refuses. REQUIRES: !status.ok().
  explicit Partitioner(Status status) : status_(std::move(status)) {}

  /// INVALID_ARGUMENT: what it was made with.
  const Status& status() const { return status_; }

  /// What it says, as it is. Its own error, or status().
  Result<std::vector<std::int64_t>> operator()(const Shape& shape, DType dtype) const;

  /// The partitions along the first axis of a variable: 1 for a scalar, which is not asked about.
  /// As tf.distribute.ParameterServerStrategy takes it, a custom one has to say at least one
  /// number, the first not below 1, all others 1: INVALID_ARGUMENT. Also INVALID_ARGUMENT: more
  /// partitions than rows, where there is a row.
  Result<std::int64_t> Partitions(const Shape& shape, DType dtype) const;

 private:
  Function function_;
  Status status_;
};

/// TensorFlow's. (In a namespace of their own, as there: the messages of a manifest have the same
/// names.) Sizes below 1 are INVALID_ARGUMENT by status(); so is, when it is asked, a shape that is
/// a scalar, or that lacks a size which is needed. Strings count as `bytes_per_string` each. Any
/// thread.
namespace partitioners {

inline constexpr std::int64_t kBytesPerString = 16;

/// So many partitions, but no more than rows: min(num_shards, rows). As there, a num_shards below 1
/// is refused for the first variable that is to be divided. Mirrors
/// tf.distribute.experimental.partitioners.FixedShardsPartitioner.
Partitioner FixedShardsPartitioner(std::int64_t num_shards);

/// Partitions of about min_shard_bytes: max(1, min(rows, max_shards, ceil(bytes /
/// min_shard_bytes))). As the count is rounded up, a partition may be smaller. Wants all sizes.
/// Mirrors tf.distribute.experimental.partitioners.MinSizePartitioner.
Partitioner MinSizePartitioner(std::int64_t min_shard_bytes = 256 << 10,
                               std::int64_t max_shards = 1,
                               std::int64_t bytes_per_string = kBytesPerString);

/// Partitions of max_shard_bytes at most, as far as a single row and max_shards allow:
/// ceil(rows / max(1, floor(max_shard_bytes / bytes of a row))). 0 max_shards is no limit. Wants
/// all sizes, and one element at least (TensorFlow divides by zero). Mirrors
/// tf.distribute.experimental.partitioners.MaxSizePartitioner.
Partitioner MaxSizePartitioner(std::int64_t max_shard_bytes, std::int64_t max_shards = 0,
                               std::int64_t bytes_per_string = kBytesPerString);

}  // namespace partitioners
}  // namespace pstrain
