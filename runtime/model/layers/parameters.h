#pragma once

#include <cstdint>
#include <vector>

namespace pstrain {

/// What a model is given and gives back in a step. Plain data; one thread at a time.

/// The embedding rows that one batch touches, one entry per EMBEDDING variable.
struct RowRequest {
  std::uint32_t variable = 0;
  /// Sorted, unique global row ids.
  std::vector<std::uint64_t> rows;
};

/// What a step reads, and which of the pulled rows each position of the batch uses; made by
/// Model::Plan. A pull brings what is named here and nothing else. A step may have gradients for
/// dense variables that it does not read; rows it must read.
struct BatchPlan {
  /// Ids of DENSE variables, ascending; each is read whole.
  std::vector<std::uint32_t> dense;
  std::vector<RowRequest> requests;
  /// Per request: for each occurrence in the batch (in the model's order) the position in `rows`.
  std::vector<std::vector<std::uint32_t>> positions;
  /// Per request: occurrences of record i are positions[offsets[i] .. offsets[i + 1]).
  std::vector<std::vector<std::uint32_t>> offsets;
};

/// Values, or gradients, of the variables of one step. float32, row-major.
struct Parameters {
  /// By variable id; empty for EMBEDDING variables, and for what is not read, or has no gradient.
  /// Shape: VariableSpec.shape.
  std::vector<std::vector<float>> dense;
  /// Parallel to BatchPlan::requests: rows.size() x dimension.
  std::vector<std::vector<float>> rows;
};

}  // namespace pstrain
