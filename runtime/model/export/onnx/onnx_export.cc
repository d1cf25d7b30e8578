#include "runtime/model/export/onnx/onnx_export.h"

#include <set>
#include <string>

#include "runtime/features/feature_set.h"
#include "runtime/model/export/message_file.h"
#include "runtime/model/export/onnx/onnx_features.h"
#include "runtime/model/export/onnx/onnx_graph_writer.h"
#include "runtime/model/export/onnx/onnx_model_graph.h"

namespace pstrain {
namespace {

constexpr const char* kFormat = "onnx";
// Of ONNX 1.8, the first with operator set 13.
constexpr std::int64_t kIrVersion = 7;
constexpr std::int64_t kOperators = 13;
constexpr std::int64_t kMlOperators = 2;

void Import(const std::string& domain, std::int64_t version, OnnxModel& out) {
  OnnxOperatorSet* const set = out.add_opset_import();
  set->set_domain(domain);
  set->set_version(version);
}

Status Build(TrainedModel& model, OnnxModel& out) {
  PSTRAIN_ASSIGN_OR_RETURN(const FeatureSet set, FeatureSet::Create(model.training().features()));
  const std::set<std::size_t> used = FeaturesUsedBy(model.model());
  if (used.empty()) return NoInputError(kFormat);
  out.set_ir_version(kIrVersion);
  out.set_producer_name("pstrain");
  Import("", kOperators, out);
  Import("ai.onnx.ml", kMlOperators, out);
  out.mutable_graph()->set_name(model.manifest().run_id());
  OnnxGraphWriter graph(*out.mutable_graph());
  OnnxFeatures features(set, used, MissingMarkOf(model.training().input()), graph);
  OnnxModelGraph nodes(model, features, graph);
  const std::string logits = nodes.node(model.model().Describe(nodes));
  PSTRAIN_RETURN_IF_ERROR(nodes.status());
  const std::string flat = graph.RowSums("logits", logits, false);
  graph.Output(graph.Op("Sigmoid", "predictions", {flat}), "the probability that the label is 1");
  return OkStatus();
}

}  // namespace

Status ExportOnnx(TrainedModel& model, const ExportDirectory& directory) {
  PSTRAIN_RETURN_IF_ERROR(CheckFitsMessage(model, kFormat, directory));
  OnnxModel message;
  PSTRAIN_RETURN_IF_ERROR(Build(model, message));
  return WriteMessage(model, kFormat, message, directory.File("model.onnx"));
}

}  // namespace pstrain
