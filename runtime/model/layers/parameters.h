#pragma once

#include <cstdint>
#include <vector>

namespace pstrain {

/// The embedding rows that one batch touches, one entry per EMBEDDING variable.
struct RowRequest {
  std::uint32_t variable = 0;
  /// Sorted, unique global row ids.
  std::vector<std::uint64_t> rows;
};

/// Which of the pulled rows each position of the batch uses; made by Model::Plan, opaque to others.
struct BatchPlan {
  std::vector<RowRequest> requests;
  /// Per request: for each occurrence in the batch (in the model's order) the position in `rows`.
  std::vector<std::vector<std::uint32_t>> positions;
  /// Per request: occurrences of record i are positions[offsets[i] .. offsets[i + 1]).
  std::vector<std::vector<std::uint32_t>> offsets;
};

/// Values, or gradients, of the variables of one step. float32, row-major.
struct Parameters {
  /// By variable id; empty for EMBEDDING variables. Shape: VariableSpec.shape.
  std::vector<std::vector<float>> dense;
  /// Parallel to BatchPlan::requests: rows.size() x dimension.
  std::vector<std::vector<float>> rows;
};

}  // namespace pstrain
