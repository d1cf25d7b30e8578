#include <algorithm>

#include "operator/plan/policies.h"

namespace pstrain::plan {

void SuspendReplicas(PlanBuilder& builder) {
  if (!builder.spec().run_policy().suspend()) return;
  const auto& replicas = builder.snapshot().replicas;
  const bool chief_runs =
      std::any_of(replicas.begin(), replicas.end(), [&builder](const Replica& replica) {
        return replica.id.role == Role::kChief && !replica.Ended() && !IsLost(builder, replica);
      });
  for (const auto& [id, attempts] : builder.attempts_by_replica()) {
    if (chief_runs && id.role != Role::kChief) continue;
    for (const Replica* replica : attempts) builder.Stop(*replica, builder.snapshot().grace);
  }
}

}  // namespace pstrain::plan
