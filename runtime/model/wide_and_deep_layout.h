#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/feature_set.h"

namespace pstrain {

/// Where the parts of a Wide & Deep model lie: which variable belongs to which feature, and where
/// each feature enters the MLP. Made once from the job; immutable.
struct WideAndDeepLayout {
  struct Categorical {
    std::size_t feature = 0;
    /// Positions in BatchPlan::requests.
    std::optional<std::size_t> linear_request;
    std::optional<std::size_t> embedding_request;
    std::size_t dimension = 0;
    /// First column of the embedding in the MLP's input.
    std::size_t deep_column = 0;
  };
  struct Numeric {
    std::size_t feature = 0;
    /// Place in linear/numeric.
    std::optional<std::size_t> linear_weight;
    /// Column in the MLP's input.
    std::optional<std::size_t> deep_column;
  };
  struct Layer {
    std::size_t kernel = 0;
    std::size_t bias = 0;
    std::size_t in = 0;
    std::size_t out = 0;
  };

  /// In declaration order.
  std::vector<VariableSpec> variables;
  std::vector<Categorical> categorical;
  std::vector<Numeric> numeric;
  /// Variable id of linear/numeric, when there is a wide numeric feature.
  std::optional<std::size_t> linear_numeric;
  /// Variable ids of the EMBEDDING variables, in the order of the requests.
  std::vector<std::size_t> tables;
  /// Hidden layers, then the logits layer (out = 1); empty without an MLP.
  std::vector<Layer> layers;

  static constexpr std::size_t kLinearBias = 0;

  /// Variables: linear/bias [1]; linear/numeric [n]; linear/<feature> [buckets, 1], zeros;
  /// embedding/<feature> [buckets, dimension], truncated normal 1/sqrt(dimension);
  /// dense_<i>/kernel [in, out], Glorot uniform, and dense_<i>/bias [out]; logits/kernel [in, 1],
  /// logits/bias [1]. INVALID_ARGUMENT names the feature or field.
  static Result<WideAndDeepLayout> Create(const Training& training, const FeatureSet& features);
};

}  // namespace pstrain
