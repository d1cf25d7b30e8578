#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/layers/model_graph.h"
#include "runtime/model/layers/model_variables.h"
#include "runtime/model/layers/parameters.h"

namespace pstrain {

/// The linear part of a model over the features that are `wide`. With x_j the numeric features and
/// I_f the ids that a record has of categorical feature f,
///   logit = b + sum over j of w_j * x_j + sum over f, i in I_f of w_f[i].
/// Several ids of one feature are summed; no id adds nothing.
///
/// Declares linear/bias [1], linear/numeric [j] if there is a wide numeric feature, and
/// linear/<feature> [buckets, 1] for each wide categorical one; all start as zeros. Immutable; any
/// thread may call it.
class LinearPart {
 public:
  /// `features` is parallel to set.features().
  LinearPart(const FeatureSet::FeatureList& features, const FeatureSet& set,
             ModelVariables& variables);

  /// The logit of each record.
  std::vector<float> Forward(const Batch& batch, const BatchPlan& plan,
                             const Parameters& values) const;

  /// The same as a graph, [records, 1].
  ModelGraph::Tensor Describe(ModelGraph& graph) const;

  /// Adds to `gradients`, from dL/dlogit of each record:
  ///   db = sum dlogit;  dw_j = sum dlogit * x_j;  dw_f[i] = sum of dlogit where i is in I_f.
  void Backward(const Batch& batch, const BatchPlan& plan, std::span<const float> dlogits,
                Parameters& gradients) const;

 private:
  struct Categorical {
    std::size_t feature = 0;
    std::size_t request = 0;
  };

  std::size_t bias_;
  /// Variable id of linear/numeric; meaningless without numeric features.
  std::size_t weights_ = 0;
  /// By place in linear/numeric: the feature.
  std::vector<std::size_t> numeric_;
  std::vector<Categorical> categorical_;
};

}  // namespace pstrain
