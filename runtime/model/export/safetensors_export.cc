#include "runtime/model/export/safetensors_export.h"

#include <span>
#include <vector>

#include "runtime/model/export/safetensors_file.h"

namespace pstrain {

Status ExportSafetensors(TrainedModel& model, const ExportDirectory& directory) {
  PSTRAIN_RETURN_IF_ERROR(directory.CheckRoom(model.bytes()));
  const std::vector<VariableSpec>& variables = model.model().variables();
  std::vector<TensorEntry> tensors;
  tensors.reserve(variables.size());
  for (const VariableSpec& variable : variables) {
    tensors.push_back({.name = variable.name(),
                       .shape = {variable.shape().begin(), variable.shape().end()},
                       .bytes = TrainedModel::BytesOf(variable)});
  }
  PSTRAIN_ASSIGN_OR_RETURN(SafetensorsFile file,
                           SafetensorsFile::Create(directory.File("model.safetensors"), tensors));
  for (const VariableSpec& variable : variables) {
    PSTRAIN_RETURN_IF_ERROR(
        model.Read(variable, [&](std::span<const float> part) { return file.Append(part); }));
  }
  return file.Finish();
}

}  // namespace pstrain
