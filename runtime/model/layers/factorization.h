#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/model/layers/deep_input.h"
#include "runtime/model/layers/model_graph.h"

namespace pstrain {

/// The second-order factorization machine (Rendle 2010) over the embeddings of a DeepInput. With
/// e_f the embedding of feature f in a record,
///   logit = sum over f < g of <e_f, e_g>
///         = 1/2 * sum over d of ((sum over f of e_f[d])^2 - sum over f of e_f[d]^2),
/// the second form being linear in the number of features. A feature without an id in the record
/// has e_f = 0 and adds nothing. Has no variables of its own. Immutable; any thread may call it.
class FactorizationMachine {
 public:
  /// REQUIRES: all embeddings of `input` have the same dimension.
  explicit FactorizationMachine(const DeepInput& input);

  /// Adds the logit of each record to `logits`. `input` is the DeepInput's matrix.
  void Forward(std::span<const float> input, std::span<float> logits) const;

  /// The same as a graph: `logits` and what is added, from the columns of each embedding.
  static ModelGraph::Tensor Describe(ModelGraph& graph, ModelGraph::Tensor logits,
                                     std::span<const ModelGraph::Tensor> embeddings);

  /// Adds to `dinput`, the gradient of the matrix, from dL/dlogit of each record:
  ///   de_f[d] = dlogit * (sum over g of e_g[d] - e_f[d]).
  void Backward(std::span<const float> input, std::span<const float> dlogits,
                std::span<float> dinput) const;

 private:
  /// Sum over the features of their embeddings in the record that begins at `row`.
  void Sum(const float* row, std::span<float> sum) const;

  std::size_t width_;
  std::size_t dimension_ = 0;
  /// Of each embedding.
  std::vector<std::size_t> first_columns_;
};

}  // namespace pstrain
