#include "runtime/model/export/saved_model/saved_model_export.h"

#include <array>
#include <cstdint>
#include <string>

#include "runtime/checkpoint/checkpoints.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/export/message_file.h"
#include "runtime/model/export/saved_model/feature_nodes.h"
#include "runtime/model/export/saved_model/graph_writer.h"
#include "runtime/model/export/saved_model/model_nodes.h"

namespace pstrain {
namespace {

constexpr const char* kFormat = "saved_model";
constexpr const char* kInitializer = "__saved_model_init_op";
// The newest ops in the graph (SelectV2, GatherV2 with batch_dims) are of this producer's time.
constexpr int kProducer = 27;

TfTensorInfo InfoOf(const std::string& node, TfDataType type) {
  TfTensorInfo info;
  info.set_name(node + ":0");
  info.set_dtype(type);
  info.mutable_tensor_shape()->add_dim()->set_size(-1);
  return info;
}

/// [records, 1] of logits to [records] of probabilities; the node.
std::string Predictions(const std::string& logits, GraphWriter& graph) {
  const std::array<std::int32_t, 1> all = {-1};
  TfNodeDef* const flat =
      graph.Add("Reshape", "logits",
                {logits, graph.List("logits/shape", std::span<const std::int32_t>(all))});
  SetType(*flat, "T", DT_FLOAT);
  SetType(*flat, "Tshape", DT_INT32);
  return graph.Op("Sigmoid", "predictions", DT_FLOAT, {flat->name()});
}

Status Build(TrainedModel& model, TfMetaGraphDef& out) {
  PSTRAIN_ASSIGN_OR_RETURN(const FeatureSet set, FeatureSet::Create(model.training().features()));
  if (set.columns().empty()) return NoInputError(kFormat);
  const CheckpointManifest& manifest = model.manifest();
  const std::string scope =
      manifest.run_id() + "/" + CheckpointName({manifest.chief_term(), manifest.number()});
  out.mutable_meta_info_def()->add_tags("serve");
  out.mutable_graph_def()->mutable_versions()->set_producer(kProducer);
  GraphWriter graph(*out.mutable_graph_def());
  FeatureNodes features(set, MissingMarkOf(model.training().input()), scope, graph);
  ModelNodes nodes(model, features, graph);
  const std::string logits = nodes.node(model.model().Describe(nodes));
  PSTRAIN_RETURN_IF_ERROR(nodes.status());

  TfSignatureDef& signature = (*out.mutable_signature_def())["serving_default"];
  signature.set_method_name("tensorflow/serving/predict");
  for (std::size_t i = 0; i < set.columns().size(); ++i) {
    const FeatureNodes::Column& column = features.columns()[i];
    (*signature.mutable_inputs())[set.columns()[i]] = InfoOf(column.node, column.type);
  }
  (*signature.mutable_outputs())["predictions"] = InfoOf(Predictions(logits, graph), DT_FLOAT);

  TfNodeDef* const filled = graph.Add("NoOp", "init");
  for (const std::string& node : features.initializers()) filled->add_input("^" + node);
  TfTensorInfo& initializer =
      (*(*out.mutable_signature_def())[kInitializer].mutable_outputs())[kInitializer];
  initializer.set_name(filled->name());
  initializer.mutable_tensor_shape()->set_unknown_rank(true);
  return OkStatus();
}

}  // namespace

Status ExportSavedModel(TrainedModel& model, const ExportDirectory& directory) {
  PSTRAIN_RETURN_IF_ERROR(CheckFitsMessage(model, kFormat, directory));
  TfSavedModel message;
  message.set_saved_model_schema_version(1);
  PSTRAIN_RETURN_IF_ERROR(Build(model, *message.add_meta_graphs()));
  return WriteMessage(model, kFormat, message, directory.File("saved_model.pb"));
}

}  // namespace pstrain
