#include <algorithm>

#include "operator/plan/policies.h"

namespace pstrain::plan {
namespace {

bool MustWaitForOld(const Draft& draft, const ReplicaId& id) {
  const bool after_termination = ReplacesAfterTermination(draft.spec(), id.role);
  const auto& attempts = draft.Attempts(id);
  return std::any_of(attempts.begin(), attempts.end(), [&](const Replica* replica) {
    return replica->Live() || (after_termination && !replica->Ended());
  });
}

void StartWhenDue(Draft& draft, const ReplicaId& id) {
  const ReplicaRestarts record = draft.FindRecord(id);
  if (record.succeeded() || MustWaitForOld(draft, id)) return;
  const Time due = NextStart(record);
  if (due > draft.now()) {
    draft.Wake(due);
  } else {
    draft.Start(id, record.attempt());
  }
}

}  // namespace

void StartReplicas(Draft& draft) {
  if (draft.spec().run_policy().suspend()) return;
  for (const Role role : kRoles) {
    if (draft.ChiefSucceeded() && role != Role::kEvaluator) continue;
    for (std::int32_t i = 0; i < DesiredReplicas(draft.spec(), role); ++i) {
      StartWhenDue(draft, {role, i});
    }
  }
}

}  // namespace pstrain::plan
