#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/features/batch.h"
#include "runtime/model/model.h"

namespace pstrain {

/// A model with the values of one checkpoint. One thread at a time.
class CheckpointScorer {
 public:
  /// `model` outlives it. Errors as CheckpointReader::Open and Dense.
  static Result<CheckpointScorer> Open(const std::string& checkpoint_directory, const Model& model);

  const CheckpointManifest& manifest() const { return checkpoint_.manifest(); }

  /// The probability of the positive class, one per record; NaN where the values of the checkpoint
  /// or the features overflow. `batch` is of the FeatureSet that CreateFeatures makes for the
  /// model. A row that was never trained has its initial values. Errors as CheckpointReader::Rows.
  Result<std::vector<float>> Score(const Batch& batch);

 private:
  CheckpointScorer(const Model& model, CheckpointReader checkpoint)
      : model_(&model), checkpoint_(std::move(checkpoint)) {}

  const Model* model_;
  CheckpointReader checkpoint_;
  /// Its rows are those of the last batch.
  Parameters values_;
};

}  // namespace pstrain
