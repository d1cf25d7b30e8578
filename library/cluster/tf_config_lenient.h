#pragma once

#include <pstrain/cluster_spec.h>
#include <pstrain/status.h>

#include <optional>
#include <string>
#include <string_view>

namespace pstrain {

/// What each property of TensorFlow's TFConfigClusterResolver would answer, or its error:
/// INVALID_ARGUMENT for ValueError, TypeError and JSONDecodeError. A value; any thread.
struct LenientTfConfig {
  Result<ClusterSpec> cluster_spec;
  Result<std::optional<std::string>> task_type;
  Result<std::optional<int>> task_id;
  Result<std::optional<std::string>> rpc_layer;
  Result<std::optional<std::string>> session_master;
};

/// Reads TF_CONFIG with TensorFlow's conversions (tfconfig_cluster_resolver.py, 2.16): `in` for a
/// key that may be missing, str() of a task type, int() of indices. ParseTfConfig is the strict
/// reader. Pure; any thread.
LenientTfConfig ReadTfConfigLeniently(std::string_view text);

}  // namespace pstrain
