#pragma once

#include <string_view>

#include "base/status.h"
#include "base/text/json.h"

namespace pstrain {

/// Applies one `PATH=VALUE` to the tree of a PSTrainingJob manifest, before it is decoded. PATH is
/// as error messages print it: `spec.replicaSpecs.ps.replicas`, list items `features[0]`, map keys
/// with other characters `labelMap["<=50K"]`. VALUE is a YAML value: `3`, `true`, `[64, 32]`,
/// `{name: x}`. Objects on the way are made; in a union the other member is dropped; below a
/// `template` every path is taken. An index may be at most the length of the list (which appends).
///
/// INVALID_ARGUMENT, with the override and the part that is wrong, when it has no `=`, when the
/// path does not exist in the schema or the value is not YAML. Values are checked by the decoder.
/// Changes only `manifest`; any thread.
Status ApplyOverride(std::string_view override_text, Json& manifest);

}  // namespace pstrain
