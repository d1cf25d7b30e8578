#pragma once

#include <string_view>

#include "base/text/json.h"

namespace pstrain::job {

/// Entries of a container's list `env`. Free functions; any thread.

Json EnvValue(std::string_view name, std::string_view value);

/// The value is that of a key of a ConfigMap of the pod's namespace.
Json EnvFromConfigMap(std::string_view name, std::string_view config_map, std::string_view key);

}  // namespace pstrain::job
