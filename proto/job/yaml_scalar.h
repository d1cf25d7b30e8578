#pragma once

#include <string_view>

#include "base/status.h"
#include "base/text/json.h"

namespace pstrain {

/// What of YAML the manifest's reader decides itself, because yaml-cpp knows YAML 1.1 only. Pure;
/// any thread.

/// What a plain (unquoted) scalar stands for in YAML 1.2's core schema. INVALID_ARGUMENT for NaN,
/// infinities, numbers beyond a double, and words that YAML 1.1 reads otherwise.
Result<Json> ResolvePlainScalar(std::string_view text);

/// Whether the bytes are UTF-8 without NUL or other control characters than tab and line ends.
bool IsCleanText(std::string_view text);

}  // namespace pstrain
