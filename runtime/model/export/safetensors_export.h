#pragma once

#include "base/status.h"
#include "runtime/model/export/export_directory.h"
#include "runtime/model/export/trained_model.h"

namespace pstrain {

/// The file model.safetensors (safetensors_file.h) with every variable by its name, tables with all
/// of their rows. RESOURCE_EXHAUSTED: there is no room for them; otherwise errors as
/// TrainedModel::Read and of the file system. One thread for one model.
Status ExportSafetensors(TrainedModel& model, const ExportDirectory& directory);

}  // namespace pstrain
