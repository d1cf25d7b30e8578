#pragma once

#include "base/text/json.h"
#include "crds/descriptions.h"

namespace pstrain {

/// The CustomResourceDefinition of PSTrainingJob (apiextensions.k8s.io/v1): names, printer columns,
/// status and scale subresources, and the schema of psjob.proto. Pure; any thread.
Json BuildCrd(const Descriptions& descriptions);

}  // namespace pstrain
