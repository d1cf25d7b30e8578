#include "proto/contract/replica_specs.h"

namespace pstrain {

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

int DesiredReplicas(const JobSpec& spec, Role role) {
  const ReplicaSpec* replica_spec = FindReplicaSpec(spec, role);
  return replica_spec == nullptr ? 0 : replica_spec->replicas();
}

}  // namespace pstrain
