#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/layers/model_graph.h"
#include "runtime/model/layers/parameters.h"

namespace pstrain {

/// What a step says of itself. Means are over the records that the batch has.
struct StepResult {
  double loss = 0;
  std::uint32_t records = 0;
};

/// A model with an explicit backward pass. Plan says which rows a batch needs, Step and Predict
/// take their values and keep nothing: the values live on the ps. Equal inputs give equal outputs,
/// bit for bit. Immutable; any thread may call it, each with its own Parameters.
///
/// A new model is a file of this folder that implements this class, mostly from layers/, a message
/// in proto/job/psjob.proto and a line in models.cc.
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
  /// How Predict computes: [records, 1], of which its result is the sigmoid. What a row or a number
  /// is in it is what Plan and the batch say.
  virtual ModelGraph::Tensor Describe(ModelGraph& graph) const = 0;
};

/// The model that the job declares. INVALID_ARGUMENT names the field or feature that does not fit.
/// Whether the input has the columns that the features read is the readers' to check.
Result<std::unique_ptr<Model>> CreateModel(const Training& training);

/// The transforms from records to the batches that `model`, made from `training`, takes.
Result<std::shared_ptr<const FeatureSet>> CreateFeatures(const Training& training,
                                                         const Model& model);

}  // namespace pstrain
