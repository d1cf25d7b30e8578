#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/layers/model_graph.h"
#include "runtime/model/layers/model_variables.h"
#include "runtime/model/layers/parameters.h"

namespace pstrain {

/// What an MLP sees of a batch: a matrix [records, width] in which each feature has its columns, in
/// the order of the features. A numeric feature that is `deep` has one column, its value. A feature
/// with an embedding has one column for each dimension; with I the ids that a record has of it and
/// E its table, they hold the mean
///   e = (1 / |I|) * sum over i in I of E[i],  and zeros when there is no id.
///
/// Declares embedding/<feature> [buckets, dimension] for each feature with an embedding; they start
/// as a truncated normal of standard deviation 1 / sqrt(dimension). Immutable; any thread may call
/// it.
class DeepInput {
 public:
  /// The columns of one embedding.
  struct Embedding {
    std::size_t feature = 0;
    std::size_t request = 0;
    std::size_t dimension = 0;
    std::size_t first_column = 0;
  };

  /// `features` is parallel to set.features(). REQUIRES: CheckEmbeddings is OK.
  DeepInput(const FeatureSet::FeatureList& features, const FeatureSet& set,
            ModelVariables& variables);

  /// 0 when no feature enters it.
  std::size_t width() const { return width_; }
  const std::vector<Embedding>& embeddings() const { return embeddings_; }

  /// The matrix, row-major.
  std::vector<float> Forward(const Batch& batch, const BatchPlan& plan,
                             const Parameters& values) const;

  /// The same as a graph: the matrix, and the columns of each embedding.
  struct Described {
    ModelGraph::Tensor matrix;
    std::vector<ModelGraph::Tensor> embeddings;
  };
  /// REQUIRES: width() > 0.
  Described Describe(ModelGraph& graph) const;

  /// Adds to the gradients of the tables, from the gradient of the matrix:
  ///   dE[i] = sum over the records with i in I of de / |I|.
  void Backward(const Batch& batch, const BatchPlan& plan, std::span<const float> dinput,
                Parameters& gradients) const;

 private:
  struct Numeric {
    std::size_t feature = 0;
    std::size_t column = 0;
  };

  template <typename Visit>
  void ForEachLookup(const Batch& batch, const BatchPlan& plan, const Visit& visit) const;

  std::vector<Numeric> numeric_;
  std::vector<Embedding> embeddings_;
  std::size_t width_ = 0;
};

/// INVALID_ARGUMENT names the feature that has an embedding and no categories.
Status CheckEmbeddings(const FeatureSet::FeatureList& features, const FeatureSet& set);

}  // namespace pstrain
