#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/model/export/export_directory.h"
#include "runtime/model/export/trained_model.h"

namespace pstrain {

/// A format in which other programs read a model. What a format writes is a file of this folder or
/// a folder below it, and a line of the table in export_formats.cc.
struct ExportFormat {
  std::string_view name;
  /// Writes the model's files. Errors say what of the model the format cannot have.
  Status (*write)(TrainedModel& model, const ExportDirectory& directory);
};

/// INVALID_ARGUMENT names the formats that there are. Pure; any thread.
Result<const ExportFormat*> FindExportFormat(std::string_view name);
/// "safetensors or saved_model or onnx". Pure; any thread.
std::string ExportFormatNames();

/// Writes the model in a format, and manifest.json, into the new folder `output`, all or nothing.
/// manifest.json has the run and checkpoint that the model is from, spec.training's model, features
/// and input as a job has them, without the files, and name, kind, shape and dtype of each tensor,
/// of tables also how many rows the checkpoint holds. Errors as ExportDirectory::Create and of the
/// format. Reads files of the checkpoint while it writes; one thread for one model.
Status ExportModel(TrainedModel& model, const ExportFormat& format, const std::string& output);

}  // namespace pstrain
