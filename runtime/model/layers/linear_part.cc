#include "runtime/model/layers/linear_part.h"

namespace pstrain {

LinearPart::LinearPart(const FeatureSet::FeatureList& features, const FeatureSet& set,
                       ModelVariables& variables)
    : bias_(variables.AddDense("linear/bias", {1})) {
  for (std::size_t i = 0; i < set.features().size(); ++i) {
    if (!features[static_cast<int>(i)].wide()) continue;
    if (set.features()[i].kind == FeatureTransform::Kind::kNumeric) {
      numeric_.push_back(i);
    } else {
      categorical_.push_back({.feature = i, .request = 0});
    }
  }
  if (!numeric_.empty()) weights_ = variables.AddDense("linear/numeric", {numeric_.size()});
  for (Categorical& categorical : categorical_) {
    const FeatureTransform& transform = set.features()[categorical.feature];
    categorical.request =
        variables.AddTable("linear/" + transform.name, categorical.feature, transform.buckets, 1);
  }
}

std::vector<float> LinearPart::Forward(const Batch& batch, const BatchPlan& plan,
                                       const Parameters& values) const {
  std::vector<float> logits(batch.records, values.dense[bias_][0]);
  for (std::size_t j = 0; j < numeric_.size(); ++j) {
    const float weight = values.dense[weights_][j];
    const std::vector<float>& column = batch.features[numeric_[j]].values;
    for (std::size_t i = 0; i < batch.records; ++i) logits[i] += weight * column[i];
  }
  for (const Categorical& categorical : categorical_) {
    const std::size_t request = categorical.request;
    const std::vector<std::uint32_t>& offsets = plan.offsets[request];
    for (std::size_t i = 0; i < batch.records; ++i) {
      for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        logits[i] += values.rows[request][plan.positions[request][k]];
      }
    }
  }
  return logits;
}

ModelGraph::Tensor LinearPart::Describe(ModelGraph& graph) const {
  ModelGraph::Tensor logits = graph.Add(graph.Zeros(), graph.Dense(bias_));
  if (!numeric_.empty()) {
    std::vector<ModelGraph::Tensor> numbers;
    numbers.reserve(numeric_.size());
    for (const std::size_t feature : numeric_) numbers.push_back(graph.Number(feature));
    const ModelGraph::Tensor weighted =
        graph.Multiply(graph.Concat(numbers), graph.Dense(weights_));
    logits = graph.Add(logits, graph.RowSums(weighted));
  }
  for (const Categorical& categorical : categorical_) {
    logits = graph.Add(
        logits, graph.Rows(categorical.request, categorical.feature, ModelGraph::Combine::kSum));
  }
  return logits;
}

void LinearPart::Backward(const Batch& batch, const BatchPlan& plan, std::span<const float> dlogits,
                          Parameters& gradients) const {
  float& bias = gradients.dense[bias_][0];
  for (const float dlogit : dlogits) bias += dlogit;
  for (std::size_t j = 0; j < numeric_.size(); ++j) {
    float& weight = gradients.dense[weights_][j];
    const std::vector<float>& column = batch.features[numeric_[j]].values;
    for (std::size_t i = 0; i < batch.records; ++i) weight += dlogits[i] * column[i];
  }
  for (const Categorical& categorical : categorical_) {
    const std::size_t request = categorical.request;
    const std::vector<std::uint32_t>& offsets = plan.offsets[request];
    for (std::size_t i = 0; i < batch.records; ++i) {
      for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        gradients.rows[request][plan.positions[request][k]] += dlogits[i];
      }
    }
  }
}

}  // namespace pstrain
