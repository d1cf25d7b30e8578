#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/job/psjob.pb.h"
#include "runtime/model/layers/model_graph.h"
#include "runtime/model/layers/model_variables.h"
#include "runtime/model/layers/parameters.h"

namespace pstrain {

/// A multi-layer perceptron with one output, the logit:
///   a_0 = input;  a_(i+1) = max(a_i * W_i + b_i, 0);  logit = a_n * W_n + b_n.
///
/// Declares dense_<i>/kernel [in, out] and dense_<i>/bias [out] for each hidden layer, then
/// logits/kernel [in, 1] and logits/bias [1]. Kernels start uniform within sqrt(6 / (in + out))
/// (Glorot and Bengio 2010), biases as zeros. Immutable; any thread may call it.
class Mlp {
 public:
  /// [0] is the input, [i] the output of layer i - 1, the last one the logit of each record.
  using Activations = std::vector<std::vector<float>>;
  using HiddenUnits = google::protobuf::RepeatedField<std::int32_t>;

  Mlp(const HiddenUnits& hidden_units, std::size_t input_width, ModelVariables& variables);

  /// `input` is [records, input_width].
  Activations Forward(std::size_t records, std::vector<float> input,
                      const Parameters& values) const;

  /// The logit of each record as a graph, [records, 1].
  ModelGraph::Tensor Describe(ModelGraph& graph, ModelGraph::Tensor input) const;

  /// Sets the gradients of kernels and biases and returns that of the input, from dL/dlogit of each
  /// record. Layer by layer from the last, with dy the gradient of its output:
  ///   dW = a^T * dy;  db = sum of dy over the records;  da = dy * W^T;  dy of the layer before is
  ///   da where a > 0, else 0.
  std::vector<float> Backward(std::size_t records, const Activations& activations,
                              std::vector<float> dlogits, const Parameters& values,
                              Parameters& gradients) const;

 private:
  struct Layer {
    std::size_t kernel = 0;
    std::size_t bias = 0;
    std::size_t in = 0;
    std::size_t out = 0;
  };

  /// The logits layer is the last.
  std::vector<Layer> layers_;
};

}  // namespace pstrain
