#include "runtime/model/wide_and_deep.h"

#include <algorithm>
#include <cmath>

#include "runtime/model/dense_layer.h"
#include "runtime/model/row_request.h"

namespace pstrain {
namespace {

float Sigmoid(float logit) {
  if (logit >= 0) return 1 / (1 + std::exp(-logit));
  const float e = std::exp(logit);
  return e / (1 + e);
}

/// Sigmoid cross-entropy, without overflow for large logits.
double CrossEntropy(double logit, double label) {
  return std::max(logit, 0.0) - logit * label + std::log1p(std::exp(-std::abs(logit)));
}

/// One embedding row's part in the mean that a record puts into the MLP's input.
struct Lookup {
  std::size_t request;
  std::size_t row;     // where the row begins among the request's values
  std::size_t column;  // where the mean begins in the batch's input
  std::size_t dimension;
  float scale;  // one by the number of the record's ids
};

template <typename Visit>
void ForEachLookup(const WideAndDeepLayout& layout, const Batch& batch, const BatchPlan& plan,
                   const Visit& visit) {
  const std::size_t width = layout.layers.front().in;
  for (const WideAndDeepLayout::Categorical& categorical : layout.categorical) {
    if (!categorical.embedding_request.has_value()) continue;
    const std::size_t request = *categorical.embedding_request;
    const std::size_t dimension = categorical.dimension;
    const std::vector<std::uint32_t>& offsets = plan.offsets[request];
    for (std::size_t i = 0; i < batch.records; ++i) {
      const std::size_t column = i * width + categorical.deep_column;
      const float scale = 1.0F / static_cast<float>(std::max(offsets[i + 1] - offsets[i], 1U));
      for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        visit(Lookup{.request = request,
                     .row = plan.positions[request][k] * dimension,
                     .column = column,
                     .dimension = dimension,
                     .scale = scale});
      }
    }
  }
}

}  // namespace

BatchPlan WideAndDeepModel::Plan(const Batch& batch) const {
  BatchPlan plan;
  plan.requests.resize(layout_.tables.size());
  plan.positions.resize(layout_.tables.size());
  plan.offsets.resize(layout_.tables.size());
  for (const WideAndDeepLayout::Categorical& categorical : layout_.categorical) {
    const FeatureColumn& column = batch.features[categorical.feature];
    const UniqueIds unique = MakeUnique(column.ids);
    for (const auto& request : {categorical.linear_request, categorical.embedding_request}) {
      if (!request.has_value()) continue;
      plan.requests[*request] = {static_cast<std::uint32_t>(layout_.tables[*request]), unique.rows};
      plan.positions[*request] = unique.positions;
      plan.offsets[*request] = column.offsets;
    }
  }
  return plan;
}

std::vector<float> WideAndDeepModel::DeepInput(const Batch& batch, const BatchPlan& plan,
                                               const Parameters& values) const {
  const std::size_t width = layout_.layers.front().in;
  std::vector<float> input(batch.records * width, 0.0F);
  for (const WideAndDeepLayout::Numeric& numeric : layout_.numeric) {
    if (!numeric.deep_column.has_value()) continue;
    const std::vector<float>& column = batch.features[numeric.feature].values;
    for (std::size_t i = 0; i < batch.records; ++i) {
      input[i * width + *numeric.deep_column] = column[i];
    }
  }
  ForEachLookup(layout_, batch, plan, [&](const Lookup& lookup) {
    float* const out = input.data() + lookup.column;
    const float* const row = values.rows[lookup.request].data() + lookup.row;
    for (std::size_t d = 0; d < lookup.dimension; ++d) out[d] += lookup.scale * row[d];
  });
  return input;
}

std::vector<float> WideAndDeepModel::LinearLogits(const Batch& batch, const BatchPlan& plan,
                                                  const Parameters& values) const {
  std::vector<float> logits(batch.records, values.dense[WideAndDeepLayout::kLinearBias][0]);
  for (const WideAndDeepLayout::Numeric& numeric : layout_.numeric) {
    if (!numeric.linear_weight.has_value()) continue;
    const float weight = values.dense[*layout_.linear_numeric][*numeric.linear_weight];
    const std::vector<float>& column = batch.features[numeric.feature].values;
    for (std::size_t i = 0; i < batch.records; ++i) logits[i] += weight * column[i];
  }
  for (const WideAndDeepLayout::Categorical& categorical : layout_.categorical) {
    if (!categorical.linear_request.has_value()) continue;
    const std::size_t request = *categorical.linear_request;
    const std::vector<std::uint32_t>& offsets = plan.offsets[request];
    for (std::size_t i = 0; i < batch.records; ++i) {
      for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        logits[i] += values.rows[request][plan.positions[request][k]];
      }
    }
  }
  return logits;
}

std::vector<float> WideAndDeepModel::Forward(const Batch& batch, const BatchPlan& plan,
                                             const Parameters& values,
                                             Activations& activations) const {
  std::vector<float> logits = LinearLogits(batch, plan, values);
  activations.clear();
  if (layout_.layers.empty()) return logits;
  activations.push_back(DeepInput(batch, plan, values));
  for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
    const WideAndDeepLayout::Layer& layer = layout_.layers[i];
    std::vector<float> out(batch.records * layer.out);
    DenseForward({batch.records, layer.in, layer.out}, activations.back(),
                 values.dense[layer.kernel], values.dense[layer.bias], out);
    if (i + 1 < layout_.layers.size()) ReluForward(out);
    activations.push_back(std::move(out));
  }
  for (std::size_t i = 0; i < batch.records; ++i) logits[i] += activations.back()[i];
  return logits;
}

void WideAndDeepModel::ResetGradients(const BatchPlan& plan, Parameters& gradients) const {
  gradients.dense.resize(layout_.variables.size());
  for (std::size_t i = 0; i < layout_.variables.size(); ++i) {
    const VariableSpec& variable = layout_.variables[i];
    std::size_t size = variable.kind() == VariableSpec::DENSE ? 1 : 0;
    for (const std::int64_t dimension : variable.shape()) {
      size *= static_cast<std::size_t>(dimension);
    }
    gradients.dense[i].assign(size, 0.0F);
  }
  gradients.rows.resize(plan.requests.size());
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const VariableSpec& table = layout_.variables[layout_.tables[i]];
    gradients.rows[i].assign(
        plan.requests[i].rows.size() * static_cast<std::size_t>(table.shape(1)), 0.0F);
  }
}

void WideAndDeepModel::LinearBackward(const Batch& batch, const BatchPlan& plan,
                                      std::span<const float> dlogits, Parameters& gradients) const {
  float& bias = gradients.dense[WideAndDeepLayout::kLinearBias][0];
  for (const float dlogit : dlogits) bias += dlogit;
  for (const WideAndDeepLayout::Numeric& numeric : layout_.numeric) {
    if (!numeric.linear_weight.has_value()) continue;
    float& weight = gradients.dense[*layout_.linear_numeric][*numeric.linear_weight];
    const std::vector<float>& column = batch.features[numeric.feature].values;
    for (std::size_t i = 0; i < batch.records; ++i) weight += dlogits[i] * column[i];
  }
  for (const WideAndDeepLayout::Categorical& categorical : layout_.categorical) {
    if (!categorical.linear_request.has_value()) continue;
    const std::size_t request = *categorical.linear_request;
    const std::vector<std::uint32_t>& offsets = plan.offsets[request];
    for (std::size_t i = 0; i < batch.records; ++i) {
      for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        gradients.rows[request][plan.positions[request][k]] += dlogits[i];
      }
    }
  }
}

void WideAndDeepModel::EmbeddingBackward(const Batch& batch, const BatchPlan& plan,
                                         std::span<const float> dinput,
                                         Parameters& gradients) const {
  ForEachLookup(layout_, batch, plan, [&](const Lookup& lookup) {
    const float* const in = dinput.data() + lookup.column;
    float* const row = gradients.rows[lookup.request].data() + lookup.row;
    for (std::size_t d = 0; d < lookup.dimension; ++d) row[d] += lookup.scale * in[d];
  });
}

void WideAndDeepModel::DeepBackward(const Batch& batch, const BatchPlan& plan,
                                    const Parameters& values, const Activations& activations,
                                    std::vector<float> dlogits, Parameters& gradients) const {
  std::vector<float> dy = std::move(dlogits);
  for (std::size_t i = layout_.layers.size(); i-- > 0;) {
    const WideAndDeepLayout::Layer& layer = layout_.layers[i];
    if (i + 1 < layout_.layers.size()) ReluBackward(activations[i + 1], dy);
    std::vector<float> dx(batch.records * layer.in);
    DenseBackward({batch.records, layer.in, layer.out}, activations[i], values.dense[layer.kernel],
                  dy, gradients.dense[layer.kernel], gradients.dense[layer.bias], dx);
    dy = std::move(dx);
  }
  EmbeddingBackward(batch, plan, dy, gradients);
}

StepResult WideAndDeepModel::Step(const Batch& batch, const BatchPlan& plan,
                                  const Parameters& values, Parameters* gradients) const {
  ResetGradients(plan, *gradients);
  StepResult result;
  result.records = batch.records;
  if (batch.records == 0) return result;
  Activations activations;
  std::vector<float> logits = Forward(batch, plan, values, activations);
  const float share = 1.0F / static_cast<float>(batch.records);
  for (std::size_t i = 0; i < batch.records; ++i) {
    result.loss += CrossEntropy(logits[i], batch.labels[i]);
    logits[i] = (Sigmoid(logits[i]) - batch.labels[i]) * share;
  }
  result.loss /= batch.records;
  LinearBackward(batch, plan, logits, *gradients);
  if (!layout_.layers.empty()) {
    DeepBackward(batch, plan, values, activations, std::move(logits), *gradients);
  }
  return result;
}

std::vector<float> WideAndDeepModel::Predict(const Batch& batch, const BatchPlan& plan,
                                             const Parameters& values) const {
  Activations activations;
  std::vector<float> predictions = Forward(batch, plan, values, activations);
  for (float& value : predictions) value = Sigmoid(value);
  return predictions;
}

}  // namespace pstrain
