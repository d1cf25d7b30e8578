#include "runtime/model/export/export_formats.h"

#include <array>

#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/job/input_kind.h"
#include "proto/job/message_encoder.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/model/export/onnx/onnx_export.h"
#include "runtime/model/export/safetensors_export.h"
#include "runtime/model/export/saved_model/saved_model_export.h"

namespace pstrain {
namespace {

constexpr std::array kFormats = {
    ExportFormat{"safetensors", ExportSafetensors},
    ExportFormat{"saved_model", ExportSavedModel},
    ExportFormat{"onnx", ExportOnnx},
};

Result<Json> TensorsOf(TrainedModel& model) {
  Json tensors = Json::Array();
  for (const VariableSpec& variable : model.model().variables()) {
    const bool table = variable.kind() == VariableSpec::EMBEDDING;
    Json& tensor = tensors.Append(Json::Object());
    tensor.Set("name", Json::String(variable.name()));
    tensor.Set("kind", Json::String(table ? "embedding" : "dense"));
    Json& shape = tensor.Set("shape", Json::Array());
    for (const std::int64_t size : variable.shape()) shape.Append(Json::Int(size));
    tensor.Set("dtype", Json::String("float32"));
    if (!table) continue;
    PSTRAIN_ASSIGN_OR_RETURN(const std::uint64_t held, model.HeldRows(variable));
    tensor.Set("rowsHeld", Json::Uint(held));
  }
  return tensors;
}

Result<Json> ManifestOf(TrainedModel& model, const ExportFormat& format) {
  const CheckpointManifest& checkpoint = model.manifest();
  const Training& training = model.training();
  Json manifest = Json::Object();
  manifest.Set("format", Json::String(std::string(format.name)));
  manifest.Set("runId", Json::String(checkpoint.run_id()));
  manifest.Set("checkpoint",
               Json::String(CheckpointName({checkpoint.chief_term(), checkpoint.number()})));
  manifest.Set("examplesCommitted", Json::Int(checkpoint.examples_committed()));
  manifest.Set("model", EncodeMessage(training.model()));
  Json& features = manifest.Set("features", Json::Array());
  for (const Feature& feature : training.features()) features.Append(EncodeMessage(feature));
  Input input = training.input();
  if (!KindOf(input).empty()) SetFilesOf(input, {});
  manifest.Set("input", EncodeMessage(input));
  PSTRAIN_ASSIGN_OR_RETURN(Json tensors, TensorsOf(model));
  manifest.Set("tensors", std::move(tensors));
  return manifest;
}

}  // namespace

Result<const ExportFormat*> FindExportFormat(std::string_view name) {
  for (const ExportFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return InvalidArgumentError("--format " + std::string(name) + ": it is " + ExportFormatNames());
}

std::string ExportFormatNames() {
  std::string names;
  for (const ExportFormat& format : kFormats) {
    names += (names.empty() ? "" : " or ") + std::string(format.name);
  }
  return names;
}

Status ExportModel(TrainedModel& model, const ExportFormat& format, const std::string& output) {
  PSTRAIN_ASSIGN_OR_RETURN(ExportDirectory directory, ExportDirectory::Create(output));
  PSTRAIN_RETURN_IF_ERROR(format.write(model, directory));
  PSTRAIN_ASSIGN_OR_RETURN(const Json manifest, ManifestOf(model, format));
  PSTRAIN_RETURN_IF_ERROR(
      WriteFileSynced(directory.File("manifest.json"), WriteJsonPretty(manifest) + "\n"));
  return directory.Finish();
}

}  // namespace pstrain
