#include "operator/plan/snapshot.h"

namespace pstrain::plan {

std::string ReplicaKey(const ReplicaId& id) {
  return std::string(RoleName(id.role)) + "-" + std::to_string(id.index);
}

bool ReplacesAfterTermination(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  if (replica_spec == nullptr || replica_spec->replacement() == REPLACEMENT_UNSPECIFIED) {
    return !spec.has_training();
  }
  return replica_spec->replacement() == AfterTermination;
}

}  // namespace pstrain::plan
