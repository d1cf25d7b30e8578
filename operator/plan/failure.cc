#include <string>

#include "operator/plan/policies.h"

namespace pstrain::plan {

void DecideFailure(PlanBuilder& builder) {
  for (const Role role : kRoles) {
    const ReplicaSpec* spec = FindReplicaSpec(builder.spec(), role);
    if (spec == nullptr || spec->restart_policy() != RestartPolicy::Never) continue;
    for (std::int32_t i = 0; i < spec->replicas(); ++i) {
      if (builder.FindRecord({role, i}).failures() == 0) continue;
      builder.Finish(JobStatus::Failed, "ReplicaFailed",
                     ReplicaKey({role, i}) + " failed and its restartPolicy is Never");
      return;
    }
  }
  const std::int32_t failures = builder.status().restarts().failures();
  const std::int32_t limit = builder.spec().run_policy().backoff_limit();
  if (failures > limit) {
    builder.Finish(JobStatus::Failed, "BackoffLimitExceeded",
                   "replicas failed " + std::to_string(failures) + " times, backoffLimit is " +
                       std::to_string(limit));
  }
}

}  // namespace pstrain::plan
