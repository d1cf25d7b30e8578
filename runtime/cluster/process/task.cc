#include "runtime/cluster/process/task.h"

#include <cstdlib>
#include <utility>

#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

Result<Task> ReadTaskOf(TaskIdentity identity) {
  Task task;
  task.identity = std::move(identity);
  PSTRAIN_ASSIGN_OR_RETURN(task.env, FromEnvironment(EnvironmentVariable));
  ReadOptions options;
  task.test_only = EnvironmentVariable(kAllowTestOnlyEnv).has_value();
  options.allow_test_only = task.test_only;
  PSTRAIN_ASSIGN_OR_RETURN(task.job, LoadJobManifest(task.env.job_file, options));
  if (task.env.run_id.empty()) return InvalidArgumentError(std::string(kRunIdEnv) + " is not set");
  return task;
}

}  // namespace

std::optional<std::string> EnvironmentVariable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

Result<Task> ReadTask() {
  const std::optional<std::string> tf_config = EnvironmentVariable(kTfConfigEnv);
  if (!tf_config) return InvalidArgumentError(std::string(kTfConfigEnv) + " is not set");
  PSTRAIN_ASSIGN_OR_RETURN(TaskIdentity identity, ResolveTask(*tf_config));
  return ReadTaskOf(std::move(identity));
}

Result<Task> ReadTask(const TfConfig& config) {
  PSTRAIN_ASSIGN_OR_RETURN(TaskIdentity identity, ResolveTask(config));
  return ReadTaskOf(std::move(identity));
}

}  // namespace pstrain
