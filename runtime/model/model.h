#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"

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

/// What a step says of itself. Means are over the records that the batch has.
struct StepResult {
  double loss = 0;
  std::uint32_t records = 0;
};

/// A model with an explicit backward pass. Immutable after Create; any thread may call it, each
/// with its own Parameters.
class Model {
 public:
  virtual ~Model() = default;
  /// The variables in declaration order; ids are positions. Partitions are left to placement.
  virtual const std::vector<VariableSpec>& variables() const = 0;
  /// Whether Plan and Step read Batch::fingerprints.
  virtual bool wants_fingerprints() const { return false; }
  /// Which rows the batch needs. Duplicates of one row within the batch become one entry.
  virtual BatchPlan Plan(const Batch& batch) const = 0;
  /// Loss and gradients. The gradient is of the mean loss over the records; gradients of rows that
  /// occur several times are summed. `gradients` is resized and overwritten. A batch without
  /// records gives zero gradients.
  virtual StepResult Step(const Batch& batch, const BatchPlan& plan, const Parameters& values,
                          Parameters* gradients) const = 0;
  /// Probability of the positive class, one per record.
  virtual std::vector<float> Predict(const Batch& batch, const BatchPlan& plan,
                                     const Parameters& values) const = 0;
};

/// The model that the job declares. INVALID_ARGUMENT names the field or feature that does not fit.
/// Whether the input has the columns that the features read is the readers' to check.
Result<std::unique_ptr<Model>> CreateModel(const Training& training);

/// The transforms from records to the batches that `model`, made from `training`, takes.
Result<std::shared_ptr<const FeatureSet>> CreateFeatures(const Training& training,
                                                         const Model& model);

}  // namespace pstrain
