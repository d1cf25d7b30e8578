#include <algorithm>
#include <chrono>

#include "operator/plan/policies.h"

namespace pstrain::plan {

void CleanUpReplicas(PlanBuilder& builder) {
  const std::chrono::seconds grace = std::min(kFinishedGrace, builder.snapshot().grace);
  for (const auto& [id, attempts] : builder.attempts_by_replica()) {
    const RunPolicy::CleanPodPolicy policy = CleanPodPolicyOf(builder.spec(), id.role);
    if (policy == RunPolicy::None) continue;
    for (const Replica* replica : attempts) {
      builder.Stop(*replica, grace);
      if (policy == RunPolicy::All && replica->Ended()) builder.Delete(*replica);
    }
  }
}

void StopRests(PlanBuilder& builder) {
  for (const auto& [id, attempts] : builder.attempts_by_replica()) {
    for (const Replica* replica : attempts) {
      if (replica->rest == Rest::kRuns) builder.Delete(*replica);
    }
  }
}

void PruneAttempts(PlanBuilder& builder) {
  for (const auto& [id, attempts] : builder.attempts_by_replica()) {
    const Replica* last_ended = nullptr;
    for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
      if (!(*attempt)->Ended()) continue;
      if (last_ended != nullptr) builder.Delete(**attempt);
      last_ended = *attempt;
    }
  }
}

}  // namespace pstrain::plan
