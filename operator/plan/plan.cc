#include "operator/plan/plan.h"

#include "operator/plan/draft.h"
#include "operator/plan/policies.h"

namespace pstrain::plan {

bool IsFinished(const JobStatus& status) {
  return status.phase() == JobStatus::Succeeded || status.phase() == JobStatus::Failed;
}

PlanResult Plan(const Snapshot& snapshot, Time now) { return Plan(snapshot, now, Policies()); }

PlanResult Plan(const Snapshot& snapshot, Time now, const Policies& policies) {
  Draft draft(snapshot, now);
  if (!draft.Finished()) {
    policies.count_ends(draft);
    policies.decide_success(draft);
    policies.decide_failure(draft);
    policies.decide_deadline(draft);
  }
  if (draft.Finished()) {
    policies.clean_up_replicas(draft);
  } else {
    policies.scale_replicas(draft);
    policies.suspend_replicas(draft);
    policies.start_replicas(draft);
    policies.prune_attempts(draft);
  }
  policies.build_status(draft);
  return std::move(draft).Take();
}

}  // namespace pstrain::plan
