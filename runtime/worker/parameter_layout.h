#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "proto/checkpoint.pb.h"
#include "runtime/model/model.h"
#include "runtime/ps/ids.h"

namespace pstrain {

/// The rows of one request that lie in one shard.
struct RoutedRows {
  /// Index into BatchPlan::requests.
  std::size_t request = 0;
  /// Ascending, and the place of each in RowRequest::rows.
  std::vector<std::uint64_t> keys;
  std::vector<std::size_t> places;
};

/// Where the parameters of a run lie: which shard has which slice of which variable. Immutable
/// after Create; any thread.
class ParameterLayout {
 public:
  /// A dense partition.
  struct Slice {
    VariableId variable = 0;
    std::uint32_t partition = 0;
    /// Floats of the variable, row-major: first, and how many.
    std::size_t first = 0;
    std::size_t count = 0;
  };

  /// INVALID_ARGUMENT names the variable that does not hold together.
  static Result<ParameterLayout> Create(const std::vector<VariableSpec>& variables,
                                        std::uint32_t shards);

  std::uint32_t shards() const { return static_cast<std::uint32_t>(slices_.size()); }
  const std::vector<Slice>& slices(ShardId shard) const { return slices_[shard]; }
  /// Length of a row of an embedding table; 0 for a dense variable.
  std::size_t dimension(VariableId variable) const { return dimension_[variable]; }
  /// Floats of each variable by id; 0 for embedding tables.
  const std::vector<std::size_t>& dense_floats() const { return dense_floats_; }

  /// The rows of the plan by shard. INVALID_ARGUMENT: a request for a variable that is not a table.
  Result<std::vector<std::vector<RoutedRows>>> Route(const BatchPlan& plan) const;
  /// Parameters with room for every value of the plan.
  Parameters Allocate(const BatchPlan& plan) const;
  /// INVALID_ARGUMENT when `gradients` are not of the sizes that Allocate makes; a dense variable
  /// may have none.
  Status CheckGradients(const BatchPlan& plan, const Parameters& gradients) const;

 private:
  std::vector<std::vector<Slice>> slices_;  // by shard
  std::vector<std::size_t> dimension_;
  std::vector<std::size_t> dense_floats_;
};

}  // namespace pstrain
