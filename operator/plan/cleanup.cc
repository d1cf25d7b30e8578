#include <algorithm>
#include <chrono>

#include "operator/plan/policies.h"

namespace pstrain::plan {
namespace {

/// A finished job has nothing left to save.
constexpr std::chrono::seconds kFinishedGrace{5};

}  // namespace

void CleanUpReplicas(Draft& draft) {
  const RunPolicy::CleanPodPolicy policy = draft.spec().run_policy().clean_pod_policy();
  if (policy == RunPolicy::None) return;
  const std::chrono::seconds grace = std::min(kFinishedGrace, draft.snapshot().grace);
  for (const auto& [id, attempts] : draft.places()) {
    for (const Replica* replica : attempts) {
      draft.Stop(*replica, grace);
      if (policy == RunPolicy::All && replica->Ended()) draft.Delete(*replica);
    }
  }
}

void PruneAttempts(Draft& draft) {
  for (const auto& [id, attempts] : draft.places()) {
    const Replica* last_ended = nullptr;
    for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
      if (!(*attempt)->Ended()) continue;
      if (last_ended != nullptr) draft.Delete(**attempt);
      last_ended = *attempt;
    }
  }
}

}  // namespace pstrain::plan
