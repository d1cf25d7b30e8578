#include <pstrain/partitioners.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/requests/partition_count.h"

namespace pstrain {
namespace {

// Nothing, or what is wrong with an argument.
std::optional<Partitioner> Refused(std::string_view partitioner, std::string_view argument,
                                   std::int64_t value, std::int64_t least) {
  if (value >= least) return std::nullopt;
  return Partitioner(InvalidArgumentError(std::string(partitioner) + ": " + std::string(argument) +
                                          " is " + std::to_string(value) + " and has to be " +
                                          std::to_string(least) + " at least"));
}

// What partitioners need to know of a variable.
struct Rows {
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;
};

Result<Rows> RowsOf(std::string_view partitioner, const Shape& shape, DType dtype,
                    std::int64_t bytes_per_string) {
  const std::string what =
      std::string(partitioner) + ": a variable of " + DTypeName(dtype) + " " + shape.ToString();
  if (shape.is_scalar()) return InvalidArgumentError(what + " has no axis to divide");
  if (!shape.is_fully_defined()) return InvalidArgumentError(what + ": all sizes have to be known");
  const std::int64_t element =
      dtype == DType::kString ? bytes_per_string : static_cast<std::int64_t>(DTypeSize(dtype));
  const std::optional<std::int64_t> elements = shape.row_elements();
  Rows rows{shape[0], 0};
  std::int64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, element, &rows.row_bytes) ||
      __builtin_mul_overflow(rows.row_bytes, rows.rows, &bytes)) {
    return InvalidArgumentError(what + " has more bytes than can be counted");
  }
  return rows;
}

// The first axis in so many partitions.
std::vector<std::int64_t> Along0(const Shape& shape, std::int64_t count) {
  std::vector<std::int64_t> partitions(shape.rank(), 1);
  partitions[0] = count;
  return partitions;
}

}  // namespace

Result<std::vector<std::int64_t>> Partitioner::operator()(const Shape& shape, DType dtype) const {
  PSTRAIN_RETURN_IF_ERROR(status_);
  PSTRAIN_RETURN_IF_ERROR(shape.Check());
  if (!function_) return std::vector<std::int64_t>(shape.rank(), 1);
  return function_(shape, dtype);
}

Result<std::int64_t> Partitioner::Partitions(const Shape& shape, DType dtype) const {
  PSTRAIN_RETURN_IF_ERROR(status_);
  PSTRAIN_RETURN_IF_ERROR(shape.Check());
  if (shape.is_scalar() || !function_) return 1;
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> partitions, (*this)(shape, dtype));
  const std::string what =
      std::string("partitioner, for a variable of ") + DTypeName(dtype) + " " + shape.ToString();
  if (partitions.empty()) return InvalidArgumentError(what + ": it says no number of partitions");
  // TensorFlow's own say so of a variable without rows, which is then in one partition, of none.
  if (partitions[0] == 0 && shape[0] == 0) return 1;
  if (partitions[0] < 1) {
    return InvalidArgumentError(what + ": it says " + std::to_string(partitions[0]) +
                                " partitions of the first axis, and there has to be one at least");
  }
  for (std::size_t axis = 1; axis < partitions.size(); ++axis) {
    if (partitions[axis] == 1) continue;
    return InvalidArgumentError(what + ": it says " + std::to_string(partitions[axis]) +
                                " partitions of axis " + std::to_string(axis) +
                                ", and only the first one is divided");
  }
  if (shape[0] != Shape::kUnknown && partitions[0] > 1 && partitions[0] > shape[0]) {
    return InvalidArgumentError(what + ": it says " + std::to_string(partitions[0]) +
                                " partitions, more than there are rows");
  }
  return partitions[0];
}

namespace partitioners {

Partitioner FixedShardsPartitioner(std::int64_t num_shards) {
  constexpr std::string_view kName = "FixedShardsPartitioner";
  return [=](const Shape& shape, DType dtype) -> Result<std::vector<std::int64_t>> {
    if (shape.is_scalar() || shape[0] < 0) {
      return InvalidArgumentError(std::string(kName) + ": a variable of " + DTypeName(dtype) + " " +
                                  shape.ToString() + " has no known number of rows");
    }
    return Along0(shape, FixedShardsCount(shape[0], num_shards));
  };
}

Partitioner MinSizePartitioner(std::int64_t min_shard_bytes, std::int64_t max_shards,
                               std::int64_t bytes_per_string) {
  constexpr std::string_view kName = "MinSizePartitioner";
  if (auto refused = Refused(kName, "min_shard_bytes", min_shard_bytes, 1)) return *refused;
  if (auto refused = Refused(kName, "max_shards", max_shards, 1)) return *refused;
  if (auto refused = Refused(kName, "bytes_per_string", bytes_per_string, 1)) return *refused;
  return [=](const Shape& shape, DType dtype) -> Result<std::vector<std::int64_t>> {
    PSTRAIN_ASSIGN_OR_RETURN(const Rows of, RowsOf(kName, shape, dtype, bytes_per_string));
    return Along0(shape, MinSizeCount(of.rows, of.row_bytes, min_shard_bytes, max_shards));
  };
}

Partitioner MaxSizePartitioner(std::int64_t max_shard_bytes, std::int64_t max_shards,
                               std::int64_t bytes_per_string) {
  constexpr std::string_view kName = "MaxSizePartitioner";
  if (auto refused = Refused(kName, "max_shard_bytes", max_shard_bytes, 1)) return *refused;
  if (auto refused = Refused(kName, "max_shards", max_shards, 0)) return *refused;
  if (auto refused = Refused(kName, "bytes_per_string", bytes_per_string, 1)) return *refused;
  return [=](const Shape& shape, DType dtype) -> Result<std::vector<std::int64_t>> {
    PSTRAIN_ASSIGN_OR_RETURN(const Rows of, RowsOf(kName, shape, dtype, bytes_per_string));
    if (of.rows == 0 || of.row_bytes == 0) {
      return InvalidArgumentError(std::string(kName) + ": a variable of " + DTypeName(dtype) + " " +
                                  shape.ToString() + " has no elements to divide by size");
    }
    return Along0(shape, MaxSizeCount(of.rows, of.row_bytes, max_shard_bytes, max_shards));
  };
}

}  // namespace partitioners
}  // namespace pstrain
