#include "runtime/model/export/saved_model/model_nodes.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace pstrain {

ModelNodes::ModelNodes(TrainedModel& model, FeatureNodes& features, GraphWriter& graph)
    : NamedGraph(model), features_(&features), graph_(&graph) {}

ModelNodes::Tensor ModelNodes::Op(std::string_view op, std::initializer_list<std::string> inputs) {
  return Keep(graph_->Op(op, "model/" + std::string(op), DT_FLOAT, inputs));
}

std::string* ModelNodes::AddConstant(const std::string& name, std::span<const std::int64_t> shape,
                                     std::string* output) {
  return graph_->Tensor(name, shape, output)->mutable_tensor_content();
}

// As many as the first column has records: a model reads at least one.
ModelNodes::Tensor ModelNodes::Zeros() {
  const FeatureNodes::Column& column = features_->columns().front();
  TfNodeDef* const records = graph_->Add("Shape", "model/records", {column.node});
  SetType(*records, "T", column.type);
  SetType(*records, "out_type", DT_INT32);
  const std::array<std::int32_t, 1> one = {1};
  TfNodeDef* const shape =
      graph_->Add("ConcatV2", "model/shape",
                  {records->name(), graph_->List("model/one", std::span<const std::int32_t>(one)),
                   graph_->Scalar("model/axis", 0)});
  SetInt(*shape, "N", 2);
  SetType(*shape, "T", DT_INT32);
  SetType(*shape, "Tidx", DT_INT32);
  TfNodeDef* const zeros =
      graph_->Add("Fill", "model/zeros", {shape->name(), graph_->Scalar("model/zero", 0.0F)});
  SetType(*zeros, "T", DT_FLOAT);
  SetType(*zeros, "index_type", DT_INT32);
  return Keep(zeros->name());
}

ModelNodes::Tensor ModelNodes::Number(std::size_t feature) {
  return Keep(features_->Number(feature));
}

ModelNodes::Tensor ModelNodes::Rows(std::size_t request, std::size_t feature, Combine /*combine*/) {
  const VariableSpec& table = model().Table(request);
  const FeatureNodes::Ids& ids = features_->IdsOf(feature);
  const std::string scope = "rows/" + table.name();
  TfNodeDef* const rows = graph_->Add(
      "GatherV2", scope, {Constant(table), ids.node, graph_->Scalar(scope + "/axis", 0)});
  SetType(*rows, "Tparams", DT_FLOAT);
  SetType(*rows, "Tindices", DT_INT64);
  SetType(*rows, "Taxis", DT_INT32);
  if (ids.present.empty()) return Keep(rows->name());
  return Keep(graph_->Select(scope + "/or_zeros", DT_FLOAT,
                             graph_->Column(scope + "/present", DT_BOOL, ids.present), rows->name(),
                             graph_->Scalar(scope + "/zero", 0.0F)));
}

ModelNodes::Tensor ModelNodes::Concat(std::span<const Tensor> parts) {
  TfNodeDef* const concat = graph_->Add("ConcatV2", "model/Concat");
  for (const Tensor part : parts) concat->add_input(node(part));
  concat->add_input(graph_->Scalar("model/Concat/axis", 1));
  SetInt(*concat, "N", static_cast<std::int64_t>(parts.size()));
  SetType(*concat, "T", DT_FLOAT);
  SetType(*concat, "Tidx", DT_INT32);
  return Keep(concat->name());
}

ModelNodes::Tensor ModelNodes::MatMul(Tensor a, Tensor kernel) {
  return Op("MatMul", {node(a), node(kernel)});
}
ModelNodes::Tensor ModelNodes::Add(Tensor a, Tensor b) { return Op("AddV2", {node(a), node(b)}); }
ModelNodes::Tensor ModelNodes::Multiply(Tensor a, Tensor b) {
  return Op("Mul", {node(a), node(b)});
}
ModelNodes::Tensor ModelNodes::Scale(Tensor a, float factor) {
  return Op("Mul", {node(a), graph_->Scalar("model/factor", factor)});
}
ModelNodes::Tensor ModelNodes::Relu(Tensor a) { return Op("Relu", {node(a)}); }

ModelNodes::Tensor ModelNodes::RowSums(Tensor a) {
  TfNodeDef* const sum =
      graph_->Add("Sum", "model/RowSums", {node(a), graph_->Scalar("model/RowSums/axis", 1)});
  SetType(*sum, "T", DT_FLOAT);
  SetType(*sum, "Tidx", DT_INT32);
  SetBool(*sum, "keep_dims", true);
  return Keep(sum->name());
}

}  // namespace pstrain
