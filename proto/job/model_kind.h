#pragma once

#include <cstdint>
#include <string>

#include "proto/job/psjob.pb.h"

namespace pstrain {

/// What may be asked of a ModelSpec, whichever model the job gives, so that only runtime/model
/// knows a model's name. A model with layers has their widths in a field hidden_units. Pure; any
/// thread.

/// The width of the widest hidden layer; 0 for a model without any, and where none is given.
std::uint32_t WidestHiddenLayer(const ModelSpec& model);

/// The path of that field below `training`, as a manifest has it, for instance
/// "model.someModel.hiddenUnits"; empty for a model without any, and where none is given.
std::string HiddenUnitsPath(const ModelSpec& model);

/// What a manifest calls the first model that has hidden layers, where nobody has chosen one.
std::string FirstModelWithLayers();

}  // namespace pstrain
