#include "operator/plan/plan.h"

#include "operator/plan/plan_builder.h"
#include "operator/plan/policies.h"

namespace pstrain::plan {

bool IsFinished(const JobStatus& status) {
  return status.phase() == JobStatus::Succeeded || status.phase() == JobStatus::Failed;
}

PlanResult Plan(const Snapshot& snapshot, Time now) { return Plan(snapshot, now, Policies()); }

PlanResult Plan(const Snapshot& snapshot, Time now, const Policies& policies) {
  PlanBuilder builder(snapshot, now);
  if (!builder.Finished()) {
    policies.count_ends(builder);
    policies.decide_success(builder);
    policies.decide_failure(builder);
    policies.decide_deadline(builder);
  }
  if (builder.Finished()) {
    policies.clean_up_replicas(builder);
  } else {
    policies.scale_replicas(builder);
    policies.suspend_replicas(builder);
    policies.start_replicas(builder);
    policies.prune_attempts(builder);
  }
  policies.stop_rests(builder);
  policies.forget_lost(builder);
  policies.build_status(builder);
  return std::move(builder).Take();
}

}  // namespace pstrain::plan
