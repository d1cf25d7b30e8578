#include "runtime/model/layers/mlp.h"

#include <cmath>
#include <string>
#include <utility>

#include "runtime/model/layers/dense_layer.h"

namespace pstrain {

Mlp::Mlp(const HiddenUnits& hidden_units, std::size_t input_width, ModelVariables& variables) {
  std::size_t in = input_width;
  const auto add = [&](const std::string& name, std::size_t out) {
    const InitialDistribution glorot = {.kind = Initializer::UNIFORM,
                                        .scale = std::sqrt(6.0 / static_cast<double>(in + out))};
    const std::size_t kernel = variables.AddDense(name + "/kernel", {in, out}, glorot);
    const std::size_t bias = variables.AddDense(name + "/bias", {out});
    layers_.push_back({.kernel = kernel, .bias = bias, .in = in, .out = out});
    in = out;
  };
  for (int i = 0; i < hidden_units.size(); ++i) {
    add("dense_" + std::to_string(i), static_cast<std::size_t>(hidden_units[i]));
  }
  add("logits", 1);
}

Mlp::Activations Mlp::Forward(std::size_t records, std::vector<float> input,
                              const Parameters& values) const {
  Activations activations;
  activations.push_back(std::move(input));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    std::vector<float> out(records * layer.out);
    DenseForward({records, layer.in, layer.out}, activations.back(), values.dense[layer.kernel],
                 values.dense[layer.bias], out);
    if (i + 1 < layers_.size()) ReluForward(out);
    activations.push_back(std::move(out));
  }
  return activations;
}

ModelGraph::Tensor Mlp::Describe(ModelGraph& graph, ModelGraph::Tensor input) const {
  ModelGraph::Tensor out = input;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    out =
        graph.Add(graph.MatMul(out, graph.Dense(layers_[i].kernel)), graph.Dense(layers_[i].bias));
    if (i + 1 < layers_.size()) out = graph.Relu(out);
  }
  return out;
}

std::vector<float> Mlp::Backward(std::size_t records, const Activations& activations,
                                 std::vector<float> dlogits, const Parameters& values,
                                 Parameters& gradients) const {
  std::vector<float> dy = std::move(dlogits);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    if (i + 1 < layers_.size()) ReluBackward(activations[i + 1], dy);
    std::vector<float> dx(records * layer.in);
    DenseBackward({records, layer.in, layer.out}, activations[i], values.dense[layer.kernel], dy,
                  gradients.dense[layer.kernel], gradients.dense[layer.bias], dx);
    dy = std::move(dx);
  }
  return dy;
}

}  // namespace pstrain
