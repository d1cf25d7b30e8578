#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/text/json.h"

namespace pstrain {

/// Names the training container of a pod: the one whose end is the end of the replica. The operator
/// writes it on each pod that it makes, as injectors may put containers first. In a role's template
/// it says which of several containers that is to be; without it the first.
inline constexpr std::string_view kTrainingContainerAnnotation = "pstrain.dev/training-container";

/// Its index among spec.containers of a PodTemplateSpec or a Pod; 0 also when there is none.
/// INVALID_ARGUMENT, naming the field, when the annotation names none of them. Pure; any thread.
Result<std::size_t> TrainingContainerIndex(const Json& pod);

/// That container; null when there is none. The same errors.
Result<const Json*> FindTrainingContainer(const Json& pod);

}  // namespace pstrain
