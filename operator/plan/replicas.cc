#include <algorithm>

#include "operator/plan/policies.h"

namespace pstrain::plan {
namespace {

bool MustWaitForOld(const PlanBuilder& builder, const ReplicaId& id) {
  const bool after_termination = ReplacesAfterTermination(builder.spec(), id.role);
  const auto& attempts = builder.Attempts(id);
  return std::any_of(attempts.begin(), attempts.end(), [&](const Replica* replica) {
    return replica->Live() || (after_termination && !replica->Gone());
  });
}

void StartWhenDue(PlanBuilder& builder, const ReplicaId& id) {
  const ReplicaRestarts record = builder.FindRecord(id);
  if (record.succeeded() || MustWaitForOld(builder, id)) return;
  const Time due = NextStart(record);
  if (due > builder.now()) {
    builder.Requeue(due);
  } else {
    builder.Start(id, record.attempt());
  }
}

}  // namespace

void StartReplicas(PlanBuilder& builder) {
  if (builder.spec().run_policy().suspend()) return;
  for (const Role role : kRoles) {
    if (builder.ChiefSucceeded() && role != Role::kEvaluator) continue;
    for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), role); ++i) {
      StartWhenDue(builder, {role, i});
    }
  }
}

}  // namespace pstrain::plan
