#include "runtime/model/layers/deep_input.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace pstrain {
namespace {

/// One embedding row's part in the mean of one record.
struct Lookup {
  std::size_t request;
  std::size_t row;     // where the row begins among the request's values
  std::size_t column;  // where the mean begins in the matrix
  std::size_t dimension;
  float scale;  // one by the number of the record's ids
};

}  // namespace

DeepInput::DeepInput(const FeatureSet::FeatureList& features, const FeatureSet& set,
                     ModelVariables& variables) {
  for (std::size_t i = 0; i < set.features().size(); ++i) {
    const Feature& feature = features[static_cast<int>(i)];
    const FeatureTransform& transform = set.features()[i];
    if (transform.kind == FeatureTransform::Kind::kNumeric) {
      if (feature.deep()) numeric_.push_back({.feature = i, .column = width_++});
    } else if (feature.embedding_dimension() > 0) {
      const auto dimension = static_cast<std::size_t>(feature.embedding_dimension());
      const InitialDistribution initial = {.kind = Initializer::TRUNCATED_NORMAL,
                                           .scale = 1 / std::sqrt(static_cast<double>(dimension))};
      embeddings_.push_back({.feature = i,
                             .request = variables.AddTable("embedding/" + transform.name, i,
                                                           transform.buckets, dimension, initial),
                             .dimension = dimension,
                             .first_column = width_});
      width_ += dimension;
    }
  }
}

template <typename Visit>
void DeepInput::ForEachLookup(const Batch& batch, const BatchPlan& plan, const Visit& visit) const {
  for (const Embedding& embedding : embeddings_) {
    const std::size_t request = embedding.request;
    const std::size_t dimension = embedding.dimension;
    const std::vector<std::uint32_t>& offsets = plan.offsets[request];
    for (std::size_t i = 0; i < batch.records; ++i) {
      const std::size_t column = i * width_ + embedding.first_column;
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

std::vector<float> DeepInput::Forward(const Batch& batch, const BatchPlan& plan,
                                      const Parameters& values) const {
  std::vector<float> input(batch.records * width_, 0.0F);
  for (const Numeric& numeric : numeric_) {
    const std::vector<float>& column = batch.features[numeric.feature].values;
    for (std::size_t i = 0; i < batch.records; ++i) input[i * width_ + numeric.column] = column[i];
  }
  ForEachLookup(batch, plan, [&](const Lookup& lookup) {
    float* const out = input.data() + lookup.column;
    const float* const row = values.rows[lookup.request].data() + lookup.row;
    for (std::size_t d = 0; d < lookup.dimension; ++d) out[d] += lookup.scale * row[d];
  });
  return input;
}

DeepInput::Described DeepInput::Describe(ModelGraph& graph) const {
  Described described;
  // By their columns.
  std::map<std::size_t, ModelGraph::Tensor> parts;
  for (const Numeric& numeric : numeric_) parts[numeric.column] = graph.Number(numeric.feature);
  for (const Embedding& embedding : embeddings_) {
    described.embeddings.push_back(
        graph.Rows(embedding.request, embedding.feature, ModelGraph::Combine::kMean));
    parts[embedding.first_column] = described.embeddings.back();
  }
  std::vector<ModelGraph::Tensor> ordered;
  ordered.reserve(parts.size());
  for (const auto& [column, part] : parts) ordered.push_back(part);
  described.matrix = graph.Concat(ordered);
  return described;
}

void DeepInput::Backward(const Batch& batch, const BatchPlan& plan, std::span<const float> dinput,
                         Parameters& gradients) const {
  ForEachLookup(batch, plan, [&](const Lookup& lookup) {
    const float* const in = dinput.data() + lookup.column;
    float* const row = gradients.rows[lookup.request].data() + lookup.row;
    for (std::size_t d = 0; d < lookup.dimension; ++d) row[d] += lookup.scale * in[d];
  });
}

Status CheckEmbeddings(const FeatureSet::FeatureList& features, const FeatureSet& set) {
  for (std::size_t i = 0; i < set.features().size(); ++i) {
    const Feature& feature = features[static_cast<int>(i)];
    if (feature.embedding_dimension() <= 0) continue;
    if (set.features()[i].kind != FeatureTransform::Kind::kNumeric) continue;
    return InvalidArgumentError(
        "feature " + feature.name() +
        ": embeddingDimension is for categorical features; a numeric one enters the MLP as "
        "itself, or bucketise it");
  }
  return OkStatus();
}

}  // namespace pstrain
