#include "runtime/cluster/cluster_resolver.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <optional>
#include <utility>

#include "proto/contract/roles.h"
#include "runtime/cluster/address.h"

namespace pstrain {
namespace {

constexpr std::string_view kMasterRole = "master";  // TensorFlow 1's chief

std::optional<Role> ParseRole(std::string_view name) {
  return name == kMasterRole ? Role::kChief : RoleFromName(name);
}

bool IsLiteral(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> ignored;
  return inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

/// A name is the pod's or a service's: its address may not be ours to bind yet.
Result<std::string> ListenAddress(const std::string& own) {
  PSTRAIN_ASSIGN_OR_RETURN(const HostPort parts, SplitAddress(own));
  if (IsLiteral(parts.host) || parts.host == "localhost") return own;
  return JoinAddress("::", parts.port);
}

}  // namespace

Result<TaskIdentity> ResolveTask(std::string_view tf_config) {
  PSTRAIN_ASSIGN_OR_RETURN(const TfConfig config, ParseTfConfig(tf_config));
  return ResolveTask(config);
}

Result<TaskIdentity> ResolveTask(const TfConfig& config) {
  const std::optional<Role> role = ParseRole(config.task_type);
  if (!role) {
    return InvalidArgumentError("TF_CONFIG: task type must be " + std::string(kRoleNames) +
                                "; found \"" + config.task_type + "\"");
  }
  if (config.task_index < 0) return InvalidArgumentError("TF_CONFIG: negative task index");
  TaskIdentity task;
  task.role = *role;
  task.index = static_cast<std::uint32_t>(config.task_index);
  const std::string* chief = config.Address(RoleName(Role::kChief), 0);
  if (chief == nullptr) chief = config.Address(kMasterRole, 0);
  if (chief == nullptr) return InvalidArgumentError("TF_CONFIG: the cluster has no chief");
  PSTRAIN_RETURN_IF_ERROR(SplitAddress(*chief).status().WithContext("TF_CONFIG: chief"));
  task.chief_address = *chief;
  if (task.role == Role::kEvaluator) return task;
  const std::string* own = config.Address(config.task_type, config.task_index);
  if (own == nullptr) {
    return InvalidArgumentError("TF_CONFIG: the cluster has no " + config.task_type + " " +
                                std::to_string(config.task_index));
  }
  task.own_address = *own;
  Result<std::string> listen = ListenAddress(*own);
  if (!listen.ok()) return listen.status().WithContext("TF_CONFIG: own address");
  task.listen_address = std::move(listen).value();
  return task;
}

}  // namespace pstrain
