#include "operator/plan/policies.h"

namespace pstrain::plan {

void ScaleReplicas(PlanBuilder& builder) {
  if (builder.spec().run_policy().suspend()) return;  // suspend.cc stops them all, in its own order
  const auto& replicas = builder.attempts_by_replica();
  for (auto entry = replicas.rbegin(); entry != replicas.rend(); ++entry) {
    const auto& [id, attempts] = *entry;
    const bool wanted = id.index < DesiredReplicas(builder.spec(), id.role);
    bool newest_live_seen = false;
    for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
      const Replica& replica = **attempt;
      if (!replica.Live()) continue;
      if (!wanted || newest_live_seen) builder.Stop(replica, builder.snapshot().grace);
      newest_live_seen = true;
    }
  }
}

}  // namespace pstrain::plan
