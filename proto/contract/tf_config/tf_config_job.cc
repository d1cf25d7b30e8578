#include <algorithm>
#include <optional>

#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"

namespace pstrain {
namespace {

int ReplicasOf(const PSTrainingJob& job, std::string_view role) {
  const std::optional<Role> known = RoleFromName(role);
  return known ? DesiredReplicas(job.spec(), *known) : 0;
}

/// The longest of the job in one form: that of the last worker or, for its longer role name, of
/// the last evaluator.
std::size_t LongestBytes(const PSTrainingJob& job, const ClusterAddresses& cluster, bool sparse) {
  TfConfig config{.cluster = cluster, .sparse = sparse};
  // The same for all of them, and long.
  const std::string text = sparse ? WriteSparseClusterInner(cluster) : WriteClusterJson(cluster);
  std::size_t longest = 0;
  for (const Role role : kRoles) {
    const int replicas = DesiredReplicas(job.spec(), role);
    if (replicas < 1) continue;
    config.task_type = RoleName(role);
    config.task_index = replicas - 1;
    longest = std::max(longest, WriteTfConfigAround(config, text).size());
  }
  return longest;
}

}  // namespace

std::string ReplicaName(std::string_view job, std::string_view role, int index) {
  return std::string(job) + "-" + std::string(role) + "-" + std::to_string(index);
}

std::string KubernetesEndpoint(std::string_view job, std::string_view name_space,
                               std::string_view role, int index) {
  return ReplicaName(job, role, index) + "." + std::string(job) + "." + std::string(name_space) +
         ".svc:" + std::to_string(kTrainingPort);
}

std::string_view NamespaceOf(const ObjectMeta& metadata) {
  return metadata.namespace_().empty() ? std::string_view("default")
                                       : std::string_view(metadata.namespace_());
}

ClusterAddresses KubernetesCluster(const PSTrainingJob& job) {
  ClusterAddresses cluster;
  const std::string_view name_space = NamespaceOf(job.metadata());
  for (const RoleTraits& role : kRoleTable) {
    if (!role.in_cluster_spec) continue;
    for (int i = 0; i < DesiredReplicas(job.spec(), role.role); ++i) {
      cluster[std::string(role.name)][i] =
          KubernetesEndpoint(job.metadata().name(), name_space, role.name, i);
    }
  }
  return cluster;
}

bool UsesSparseTfConfig(const PSTrainingJob& job, const ClusterAddresses& cluster) {
  const bool wanted = job.spec().strategy().tf_config() == Strategy::Sparse ||
                      LongestBytes(job, cluster, false) > kDenseTfConfigLimitBytes;
  return wanted && !WriteSparseClusterInner(cluster).empty();
}

Result<std::string> TfConfigOf(const PSTrainingJob& job, const ClusterAddresses& cluster,
                               std::string_view role, int index) {
  const int replicas = ReplicasOf(job, role);
  if (index < 0 || index >= replicas) {
    return NotFoundError("job " + job.metadata().name() + " has no " + std::string(role) + " " +
                         std::to_string(index) + "; it has " + std::to_string(replicas) +
                         " of that role");
  }
  return WriteTfConfig({.cluster = cluster,
                        .task_type = std::string(role),
                        .task_index = index,
                        .sparse = UsesSparseTfConfig(job, cluster)});
}

std::size_t LongestTfConfigBytes(const PSTrainingJob& job, const ClusterAddresses& cluster) {
  return LongestBytes(job, cluster, UsesSparseTfConfig(job, cluster));
}

}  // namespace pstrain
