#include "tests/runtime/model/described_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"

namespace pstrain {
namespace {

/// Computes as it is built.
class ComputedGraph final : public ModelGraph {
 public:
  ComputedGraph(const Model& model, const Batch& batch, const BatchPlan& plan,
                const Parameters& values)
      : model_(&model), batch_(&batch), plan_(&plan), values_(&values) {}

  struct Matrix {
    std::size_t width = 0;
    std::vector<float> values;
  };
  const Matrix& of(Tensor tensor) const { return matrices_[tensor.id]; }

  Tensor Zeros() override { return Keep({1, std::vector<float>(batch_->records, 0.0F)}); }
  Tensor Dense(std::size_t variable) override {
    const auto& shape = model_->variables()[variable].shape();
    return Keep({static_cast<std::size_t>(shape[shape.size() - 1]), values_->dense[variable]});
  }
  Tensor Number(std::size_t feature) override {
    return Keep({1, batch_->features[feature].values});
  }
  Tensor Rows(std::size_t request, std::size_t feature, Combine combine) override {
    EXPECT_EQ(plan_->offsets[request], batch_->features[feature].offsets);
    const auto variable = plan_->requests[request].variable;
    const auto width = static_cast<std::size_t>(model_->variables()[variable].shape(1));
    Matrix out{width, std::vector<float>(batch_->records * width, 0.0F)};
    for (std::size_t i = 0; i < batch_->records; ++i) {
      const std::uint32_t first = plan_->offsets[request][i];
      const std::uint32_t end = plan_->offsets[request][i + 1];
      for (std::uint32_t k = first; k < end; ++k) {
        const std::size_t row = plan_->positions[request][k] * width;
        for (std::size_t d = 0; d < width; ++d) {
          out.values[i * width + d] +=
              values_->rows[request][row + d] /
              static_cast<float>(combine == Combine::kSum ? 1 : end - first);
        }
      }
    }
    return Keep(std::move(out));
  }
  Tensor Concat(std::span<const Tensor> parts) override {
    Matrix out;
    for (std::size_t i = 0; i < batch_->records; ++i) {
      for (const Tensor part : parts) {
        const Matrix& from = of(part);
        const float* const row = from.values.data() + i * from.width;
        out.values.insert(out.values.end(), row, row + from.width);
      }
    }
    out.width = out.values.size() / batch_->records;
    return Keep(std::move(out));
  }
  Tensor MatMul(Tensor a, Tensor kernel) override {
    const std::size_t in = of(a).width;
    const std::size_t width = of(kernel).width;
    EXPECT_EQ(of(kernel).values.size(), in * width);
    Matrix out{width, std::vector<float>(batch_->records * width, 0.0F)};
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      for (std::size_t k = 0; k < in; ++k) {
        out.values[i] +=
            of(a).values[i / width * in + k] * of(kernel).values[k * width + i % width];
      }
    }
    return Keep(std::move(out));
  }
  Tensor Add(Tensor a, Tensor b) override {
    return Map(a, [&](float value, std::size_t i) { return value + Broadcast(b, i); });
  }
  Tensor Multiply(Tensor a, Tensor b) override {
    return Map(a, [&](float value, std::size_t i) { return value * Broadcast(b, i); });
  }
  Tensor Scale(Tensor a, float factor) override {
    return Map(a, [&](float value, std::size_t) { return value * factor; });
  }
  Tensor Relu(Tensor a) override {
    return Map(a, [](float value, std::size_t) { return std::max(value, 0.0F); });
  }
  Tensor RowSums(Tensor a) override {
    Matrix out{1, std::vector<float>(batch_->records, 0.0F)};
    for (std::size_t i = 0; i < of(a).values.size(); ++i) {
      out.values[i / of(a).width] += of(a).values[i];
    }
    return Keep(std::move(out));
  }

 private:
  Tensor Keep(Matrix matrix) {
    matrices_.push_back(std::move(matrix));
    return {matrices_.size() - 1};
  }
  float Broadcast(Tensor tensor, std::size_t i) const {
    return of(tensor).values[i % of(tensor).values.size()];
  }
  template <typename Function>
  Tensor Map(Tensor a, const Function& function) {
    Matrix out = of(a);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      out.values[i] = function(out.values[i], i);
    }
    return Keep(std::move(out));
  }

  const Model* model_;
  const Batch* batch_;
  const BatchPlan* plan_;
  const Parameters* values_;
  std::vector<Matrix> matrices_;
};

}  // namespace

void ExpectDescribed(const Model& model, const Batch& batch) {
  Rng rng(3);
  const auto fill = [&](std::size_t size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(rng.NextGaussian());
    return values;
  };
  const BatchPlan plan = model.Plan(batch);
  Parameters values;
  for (const VariableSpec& variable : model.variables()) {
    std::size_t size = variable.kind() == VariableSpec::DENSE ? 1 : 0;
    for (const std::int64_t length : variable.shape()) size *= static_cast<std::size_t>(length);
    values.dense.push_back(fill(size));
  }
  for (const RowRequest& request : plan.requests) {
    const auto dimension = static_cast<std::size_t>(model.variables()[request.variable].shape(1));
    values.rows.push_back(fill(request.rows.size() * dimension));
  }
  ComputedGraph graph(model, batch, plan, values);
  const ComputedGraph::Matrix logits = graph.of(model.Describe(graph));
  const std::vector<float> predictions = model.Predict(batch, plan, values);
  ASSERT_EQ(logits.width, 1U);
  ASSERT_EQ(logits.values.size(), predictions.size());
  ASSERT_GT(predictions.size(), 0U);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    EXPECT_NEAR(1 / (1 + std::exp(-logits.values[i])), predictions[i], 2e-6) << i;
  }
}

}  // namespace pstrain
