#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "runtime/model/export/saved_model/feature_nodes.h"
#include "runtime/model/export/saved_model/graph_writer.h"
#include "runtime/model/export/trained_model.h"
#include "runtime/model/layers/model_graph.h"

namespace pstrain {

/// What a model describes as nodes of a TensorFlow graph, with its variables as constants. A
/// feature has at most one id in a record, so that sums and means of rows are the row. One thread.
class ModelNodes final : public ModelGraph {
 public:
  /// All outlive it.
  ModelNodes(TrainedModel& model, FeatureNodes& features, GraphWriter& graph);

  Tensor Zeros() override;
  Tensor Dense(std::size_t variable) override;
  Tensor Number(std::size_t feature) override;
  Tensor Rows(std::size_t request, std::size_t feature, Combine combine) override;
  Tensor Concat(std::span<const Tensor> parts) override;
  Tensor MatMul(Tensor a, Tensor kernel) override;
  Tensor Add(Tensor a, Tensor b) override;
  Tensor Multiply(Tensor a, Tensor b) override;
  Tensor Scale(Tensor a, float factor) override;
  Tensor Relu(Tensor a) override;
  Tensor RowSums(Tensor a) override;

  const std::string& node(Tensor tensor) const { return nodes_[tensor.id]; }
  /// The first error of reading a variable; the graph is not to be used then.
  const Status& status() const { return status_; }

 private:
  Tensor Keep(std::string node);
  Tensor Op(std::string_view op, std::initializer_list<std::string> inputs);
  /// The whole variable as a constant.
  std::string Constant(const VariableSpec& variable);

  TrainedModel* model_;
  FeatureNodes* features_;
  GraphWriter* graph_;
  std::vector<std::string> nodes_;
  Status status_;
};

}  // namespace pstrain
