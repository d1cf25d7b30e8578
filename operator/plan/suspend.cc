#include <algorithm>

#include "operator/plan/policies.h"

namespace pstrain::plan {

void SuspendReplicas(Draft& draft) {
  if (!draft.spec().run_policy().suspend()) return;
  const auto& replicas = draft.snapshot().replicas;
  const bool chief_runs = std::any_of(replicas.begin(), replicas.end(), [](const Replica& replica) {
    return replica.id.role == Role::kChief && !replica.Ended();
  });
  for (const auto& [id, attempts] : draft.places()) {
    if (chief_runs && id.role != Role::kChief) continue;
    for (const Replica* replica : attempts) draft.Stop(*replica, draft.snapshot().grace);
  }
}

}  // namespace pstrain::plan
