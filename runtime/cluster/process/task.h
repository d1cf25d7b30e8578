#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/task_env.h"
#include "proto/contract/tf_config.h"
#include "proto/job/psjob.pb.h"
#include "runtime/cluster/cluster_resolver.h"

namespace pstrain {

/// Which replica of which job this process is, and where it finds its things. A value.
struct Task {
  TaskEnv env;
  TaskIdentity identity;
  PSTrainingJob job;
  /// Fields and fail points that only tests use are admitted.
  bool test_only = false;
};

/// A variable of this process' environment. Not while another thread changes it.
std::optional<std::string> EnvironmentVariable(std::string_view name);

/// Reads the environment and the job's file, and who this is from TF_CONFIG. INVALID_ARGUMENT: what
/// is absent or wrong there, by the variable's or the file's name. One thread.
Result<Task> ReadTask();
/// The same of a cluster that was read already.
Result<Task> ReadTask(const TfConfig& config);

}  // namespace pstrain
