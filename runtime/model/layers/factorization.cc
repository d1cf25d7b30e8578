#include "runtime/model/layers/factorization.h"

#include <algorithm>

namespace pstrain {

FactorizationMachine::FactorizationMachine(const DeepInput& input) : width_(input.width()) {
  for (const DeepInput::Embedding& embedding : input.embeddings()) {
    dimension_ = embedding.dimension;
    first_columns_.push_back(embedding.first_column);
  }
}

void FactorizationMachine::Sum(const float* row, std::span<float> sum) const {
  std::fill(sum.begin(), sum.end(), 0.0F);
  for (const std::size_t column : first_columns_) {
    for (std::size_t d = 0; d < dimension_; ++d) sum[d] += row[column + d];
  }
}

void FactorizationMachine::Forward(std::span<const float> input, std::span<float> logits) const {
  std::vector<float> sum(dimension_);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float* const row = input.data() + i * width_;
    Sum(row, sum);
    float twice = 0;
    for (const float s : sum) twice += s * s;
    for (const std::size_t column : first_columns_) {
      for (std::size_t d = 0; d < dimension_; ++d) twice -= row[column + d] * row[column + d];
    }
    logits[i] += 0.5F * twice;
  }
}

ModelGraph::Tensor FactorizationMachine::Describe(ModelGraph& graph, ModelGraph::Tensor logits,
                                                  std::span<const ModelGraph::Tensor> embeddings) {
  ModelGraph::Tensor sum = embeddings.front();
  ModelGraph::Tensor squares = graph.Multiply(sum, sum);
  for (const ModelGraph::Tensor embedding : embeddings.subspan(1)) {
    sum = graph.Add(sum, embedding);
    squares = graph.Add(squares, graph.Multiply(embedding, embedding));
  }
  const ModelGraph::Tensor twice = graph.Add(graph.Multiply(sum, sum), graph.Scale(squares, -1.0F));
  return graph.Add(logits, graph.Scale(graph.RowSums(twice), 0.5F));
}

void FactorizationMachine::Backward(std::span<const float> input, std::span<const float> dlogits,
                                    std::span<float> dinput) const {
  std::vector<float> sum(dimension_);
  for (std::size_t i = 0; i < dlogits.size(); ++i) {
    const float* const row = input.data() + i * width_;
    float* const drow = dinput.data() + i * width_;
    Sum(row, sum);
    for (const std::size_t column : first_columns_) {
      for (std::size_t d = 0; d < dimension_; ++d) {
        drow[column + d] += dlogits[i] * (sum[d] - row[column + d]);
      }
    }
  }
}

}  // namespace pstrain
