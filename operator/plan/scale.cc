#include "operator/plan/policies.h"

namespace pstrain::plan {

void ScaleReplicas(Draft& draft) {
  if (draft.spec().run_policy().suspend()) return;  // suspend.cc stops them all, in its own order
  const auto& places = draft.places();
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const auto& [id, attempts] = *place;
    const bool wanted = id.index < DesiredReplicas(draft.spec(), id.role);
    bool newest_live_seen = false;
    for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
      const Replica& replica = **attempt;
      if (!replica.Live()) continue;
      if (!wanted || newest_live_seen) draft.Stop(replica, draft.snapshot().grace);
      newest_live_seen = true;
    }
  }
}

}  // namespace pstrain::plan
