#include "operator/plan/snapshot.h"

namespace pstrain::plan {

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kChief:
      return "chief";
    case Role::kPs:
      return "ps";
    case Role::kWorker:
      return "worker";
    case Role::kEvaluator:
      return "evaluator";
  }
  return "unknown";
}

std::optional<Role> RoleFromName(std::string_view name) {
  for (const Role role : kRoles) {
    if (RoleName(role) == name) return role;
  }
  return std::nullopt;
}

std::string ReplicaKey(const ReplicaId& id) {
  return std::string(RoleName(id.role)) + "-" + std::to_string(id.index);
}

const ReplicaSpec* FindReplicaSpec(const JobSpec& spec, Role role) {
  const ReplicaSpecs& specs = spec.replica_specs();
  switch (role) {
    case Role::kChief:
      return specs.has_chief() ? &specs.chief() : nullptr;
    case Role::kPs:
      return specs.has_ps() ? &specs.ps() : nullptr;
    case Role::kWorker:
      return specs.has_worker() ? &specs.worker() : nullptr;
    case Role::kEvaluator:
      return specs.has_evaluator() ? &specs.evaluator() : nullptr;
  }
  return nullptr;
}

std::int32_t DesiredReplicas(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  return replica_spec == nullptr ? 0 : replica_spec->replicas();
}

bool ReplacesAfterTermination(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  if (replica_spec == nullptr || replica_spec->replacement() == REPLACEMENT_UNSPECIFIED) {
    return !spec.has_training();
  }
  return replica_spec->replacement() == AfterTermination;
}

}  // namespace pstrain::plan
