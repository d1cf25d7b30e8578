#include "operator/plan/snapshot.h"

namespace pstrain::plan {

std::string ReplicaKey(const ReplicaId& id) {
  return std::string(RoleName(id.role)) + "-" + std::to_string(id.index);
}

std::string MismatchOf(const FinalCounts& counts) {
  const bool agree = counts.committed == counts.expected && counts.applied_min == counts.expected &&
                     counts.applied_max == counts.expected;
  if (agree) return {};
  return "of " + std::to_string(counts.expected) + " examples " + std::to_string(counts.committed) +
         " were committed, and the shards have applied " + std::to_string(counts.applied_min) +
         " to " + std::to_string(counts.applied_max);
}

bool ReplacesAfterTermination(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  if (replica_spec == nullptr || replica_spec->replacement() == REPLACEMENT_UNSPECIFIED) {
    return !spec.has_training();
  }
  return replica_spec->replacement() == AfterTermination;
}

}  // namespace pstrain::plan
