#pragma once

#include <string>

#include "base/text/json.h"

namespace pstrain {

/// The value as YAML in block style, two spaces a level, members in their order, every text in
/// double quotes, and keys where they need them, so that no reader takes one for something else.
/// Ends with a newline. Pure; any thread.
std::string WriteYaml(const Json& value);

}  // namespace pstrain
