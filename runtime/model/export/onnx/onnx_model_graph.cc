#include "runtime/model/export/onnx/onnx_model_graph.h"

#include <array>
#include <cstdint>
#include <utility>

namespace pstrain {
namespace {

/// Computes nothing, and notes what it is asked for.
class FeatureNotes final : public ModelGraph {
 public:
  Tensor Zeros() override { return {}; }
  Tensor Dense(std::size_t /*variable*/) override { return {}; }
  Tensor Number(std::size_t feature) override { return Note(feature); }
  Tensor Rows(std::size_t /*request*/, std::size_t feature, Combine /*combine*/) override {
    return Note(feature);
  }
  Tensor Concat(std::span<const Tensor> /*parts*/) override { return {}; }
  Tensor MatMul(Tensor /*a*/, Tensor /*kernel*/) override { return {}; }
  Tensor Add(Tensor /*a*/, Tensor /*b*/) override { return {}; }
  Tensor Multiply(Tensor /*a*/, Tensor /*b*/) override { return {}; }
  Tensor Scale(Tensor /*a*/, float /*factor*/) override { return {}; }
  Tensor Relu(Tensor /*a*/) override { return {}; }
  Tensor RowSums(Tensor /*a*/) override { return {}; }

  std::set<std::size_t> features;

 private:
  Tensor Note(std::size_t feature) {
    features.insert(feature);
    return {};
  }
};

}  // namespace

std::set<std::size_t> FeaturesUsedBy(const Model& model) {
  FeatureNotes notes;
  model.Describe(notes);
  return std::move(notes.features);
}

OnnxModelGraph::OnnxModelGraph(TrainedModel& model, OnnxFeatures& features, OnnxGraphWriter& graph)
    : NamedGraph(model), features_(&features), graph_(&graph) {}

OnnxModelGraph::Tensor OnnxModelGraph::Op(std::string_view op,
                                          std::initializer_list<std::string> inputs) {
  return Keep(graph_->Op(op, "model/" + std::string(op), inputs));
}

std::string* OnnxModelGraph::AddConstant(const std::string& name,
                                         std::span<const std::int64_t> shape, std::string* output) {
  return graph_->Tensor(name, shape, output)->mutable_raw_data();
}

// As many as something that is fed has records.
OnnxModelGraph::Tensor OnnxModelGraph::Zeros() {
  const std::array<std::int64_t, 1> one = {1};
  OnnxNode* const shape =
      graph_->Add("Concat", "model/shape",
                  {graph_->Op("Shape", "model/records", {features_->FirstInput()}),
                   graph_->List("model/one", std::span<const std::int64_t>(one))});
  SetOnnxInt(*shape, "axis", 0);
  return Op("ConstantOfShape", {shape->name()});
}

OnnxModelGraph::Tensor OnnxModelGraph::Number(std::size_t feature) {
  return Keep(features_->Number(feature));
}

OnnxModelGraph::Tensor OnnxModelGraph::Rows(std::size_t request, std::size_t feature,
                                            Combine /*combine*/) {
  const VariableSpec& table = model().Table(request);
  const OnnxFeatures::Ids& ids = features_->IdsOf(feature);
  const std::string scope = "rows/" + table.name();
  const std::string rows = graph_->Op("Gather", scope, {Constant(table), ids.node});
  if (ids.present.empty()) return Keep(rows);
  return Keep(graph_->Where(scope + "/or_zeros", graph_->Column(scope + "/present", ids.present),
                            rows, graph_->Scalar(scope + "/zero", 0.0F)));
}

OnnxModelGraph::Tensor OnnxModelGraph::Concat(std::span<const Tensor> parts) {
  OnnxNode* const concat = graph_->Add("Concat", "model/Concat");
  for (const Tensor part : parts) concat->add_input(node(part));
  SetOnnxInt(*concat, "axis", 1);
  return Keep(concat->name());
}

OnnxModelGraph::Tensor OnnxModelGraph::MatMul(Tensor a, Tensor kernel) {
  return Op("MatMul", {node(a), node(kernel)});
}
OnnxModelGraph::Tensor OnnxModelGraph::Add(Tensor a, Tensor b) {
  return Op("Add", {node(a), node(b)});
}
OnnxModelGraph::Tensor OnnxModelGraph::Multiply(Tensor a, Tensor b) {
  return Op("Mul", {node(a), node(b)});
}
OnnxModelGraph::Tensor OnnxModelGraph::Scale(Tensor a, float factor) {
  return Op("Mul", {node(a), graph_->Scalar("model/factor", factor)});
}
OnnxModelGraph::Tensor OnnxModelGraph::Relu(Tensor a) { return Op("Relu", {node(a)}); }

OnnxModelGraph::Tensor OnnxModelGraph::RowSums(Tensor a) {
  return Keep(graph_->RowSums("model/RowSums", node(a), true));
}

}  // namespace pstrain
