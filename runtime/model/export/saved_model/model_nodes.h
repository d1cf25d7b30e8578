#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "runtime/model/export/named_graph.h"
#include "runtime/model/export/saved_model/feature_nodes.h"
#include "runtime/model/export/saved_model/graph_writer.h"

namespace pstrain {

/// What a model describes as nodes of a TensorFlow graph, with its variables as constants. A
/// feature has at most one id in a record, so that sums and means of rows are the row. One thread.
class ModelNodes final : public NamedGraph {
 public:
  /// All outlive it.
  ModelNodes(TrainedModel& model, FeatureNodes& features, GraphWriter& graph);

  Tensor Zeros() override;
  Tensor Number(std::size_t feature) override;
  Tensor Rows(std::size_t request, std::size_t feature, Combine combine) override;
  Tensor Concat(std::span<const Tensor> parts) override;
  Tensor MatMul(Tensor a, Tensor kernel) override;
  Tensor Add(Tensor a, Tensor b) override;
  Tensor Multiply(Tensor a, Tensor b) override;
  Tensor Scale(Tensor a, float factor) override;
  Tensor Relu(Tensor a) override;
  Tensor RowSums(Tensor a) override;

 private:
  Tensor Op(std::string_view op, std::initializer_list<std::string> inputs);
  std::string* AddConstant(const std::string& name, std::span<const std::int64_t> shape,
                           std::string* output) override;

  FeatureNodes* features_;
  GraphWriter* graph_;
};

}  // namespace pstrain
