#include "proto/contract/task_env.h"

#include <algorithm>
#include <array>

#include "base/text/parse_number.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"

namespace pstrain {
namespace {

std::string Message(std::string_view name, std::string_view text) {
  return std::string(name) + ": " + std::string(text);
}

/// Reads the environment into a TaskEnv, one variable at a time.
class Reader {
 public:
  Reader(const EnvironmentLookup& lookup, bool require_task)
      : lookup_(lookup), require_task_(require_task) {}

  Status Text(std::string_view name, bool of_task, std::string& out) const {
    const auto value = lookup_(name);
    if (value && !value->empty()) {
      out = *value;
    } else if (of_task && require_task_) {
      return InvalidArgumentError(Message(name, "is not set"));
    }
    return OkStatus();
  }

  Status Number(std::string_view name, bool of_task, int& out) const {
    std::string text;
    PSTRAIN_RETURN_IF_ERROR(Text(name, of_task, text));
    if (text.empty()) return OkStatus();
    const auto number = ParseNumber<int>(text);
    if (!number || *number < 0) {
      return InvalidArgumentError(Message(name, "must be a whole number from 0; found " + text));
    }
    out = *number;
    return OkStatus();
  }

 private:
  const EnvironmentLookup& lookup_;
  bool require_task_;
};

Status CheckRole(const TaskEnv& env) {
  if (env.replica_type.empty() || RoleFromName(env.replica_type)) return OkStatus();
  return InvalidArgumentError(Message(
      kReplicaTypeEnv, "must be " + std::string(kRoleNames) + "; found " + env.replica_type));
}

Status CheckAddress(const TaskEnv& env) {
  const std::size_t colon = env.metrics_address.rfind(':');
  if (colon != std::string::npos) {
    const auto port = ParseNumber<int>(std::string_view(env.metrics_address).substr(colon + 1));
    if (port && *port >= 0 && *port <= 65535) return OkStatus();
  }
  return InvalidArgumentError(
      Message(kMetricsAddressEnv, "must be host:port; found " + env.metrics_address));
}

}  // namespace

Environment ToEnvironment(const TaskEnv& env) {
  Environment environment;
  const auto add = [&environment](std::string_view name, std::string value) {
    environment.emplace_back(name, std::move(value));
  };
  add(kJobNameEnv, env.job_name);
  add(kNamespaceEnv, env.name_space);
  add(kReplicaTypeEnv, env.replica_type);
  add(kReplicaIndexEnv, std::to_string(env.replica_index));
  add(kAttemptEnv, std::to_string(env.attempt));
  add(kRunIdEnv, env.run_id);
  add(kMetricsAddressEnv, env.metrics_address);
  add(kJobFileEnv, env.job_file);
  add(kGraceSecondsEnv, std::to_string(env.grace_seconds));
  add(kScratchDirEnv, env.scratch_dir);
  if (!env.ps_replicas_file.empty()) add(kPsReplicasFileEnv, env.ps_replicas_file);
  if (!env.data_address.empty()) add(kDataAddressEnv, env.data_address);
  if (env.most_workers) add(kMostWorkersEnv, std::to_string(*env.most_workers));
  if (env.stats_fd) add(kStatsFdEnv, std::to_string(*env.stats_fd));
  return environment;
}

Result<TaskEnv> FromEnvironment(const EnvironmentLookup& lookup, bool require_task) {
  const Reader reader(lookup, require_task);
  TaskEnv env;
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kJobNameEnv, true, env.job_name));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kNamespaceEnv, false, env.name_space));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kReplicaTypeEnv, true, env.replica_type));
  PSTRAIN_RETURN_IF_ERROR(reader.Number(kReplicaIndexEnv, true, env.replica_index));
  PSTRAIN_RETURN_IF_ERROR(reader.Number(kAttemptEnv, false, env.attempt));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kRunIdEnv, false, env.run_id));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kMetricsAddressEnv, false, env.metrics_address));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kJobFileEnv, false, env.job_file));
  PSTRAIN_RETURN_IF_ERROR(reader.Number(kGraceSecondsEnv, false, env.grace_seconds));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kScratchDirEnv, false, env.scratch_dir));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kPsReplicasFileEnv, false, env.ps_replicas_file));
  PSTRAIN_RETURN_IF_ERROR(reader.Text(kDataAddressEnv, false, env.data_address));
  int most_workers = 0;
  PSTRAIN_RETURN_IF_ERROR(reader.Number(kMostWorkersEnv, false, most_workers));
  if (most_workers > 0) env.most_workers = most_workers;
  int stats_fd = -1;
  PSTRAIN_RETURN_IF_ERROR(reader.Number(kStatsFdEnv, false, stats_fd));
  if (stats_fd >= 0) env.stats_fd = stats_fd;
  PSTRAIN_RETURN_IF_ERROR(CheckRole(env));
  PSTRAIN_RETURN_IF_ERROR(CheckAddress(env));
  return env;
}

}  // namespace pstrain
