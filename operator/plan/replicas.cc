#include <algorithm>
#include <chrono>
#include <optional>

#include "operator/plan/policies.h"

namespace pstrain::plan {
namespace {

bool MustWaitForOld(const PlanBuilder& builder, const ReplicaId& id) {
  const bool after_termination = ReplacesAfterTermination(builder.spec(), id.role);
  const auto& attempts = builder.Attempts(id);
  return std::any_of(attempts.begin(), attempts.end(), [&](const Replica* replica) {
    return replica->Live() || (after_termination && !replica->Gone() && !IsLost(builder, *replica));
  });
}

void StartWhenDue(PlanBuilder& builder, const ReplicaId& id) {
  const ReplicaRestarts record = builder.FindRecord(id);
  if (record.succeeded() || record.given_up() || MustWaitForOld(builder, id)) return;
  const Time due = NextStart(record);
  if (due > builder.now()) {
    builder.Requeue(due);
  } else {
    builder.Start(id, record.attempt());
  }
}

}  // namespace

std::optional<Time> GiveUpAt(const PlanBuilder& builder, const Replica& replica) {
  const ReplicaSpec* spec = FindReplicaSpec(builder.spec(), replica.id.role);
  const bool stops = replica.terminating && !replica.Gone() && replica.stop_by;
  if (!stops || spec == nullptr || !spec->has_replacement_timeout_seconds()) return std::nullopt;
  return *replica.stop_by + std::chrono::seconds(spec->replacement_timeout_seconds());
}

bool IsLost(const PlanBuilder& builder, const Replica& replica) {
  if (!replica.terminating || replica.Gone()) return false;
  const std::optional<Time> give_up = GiveUpAt(builder, replica);
  return replica.node_lost || (give_up && *give_up <= builder.now());
}

void ForgetLost(PlanBuilder& builder) {
  for (const auto& [id, attempts] : builder.attempts_by_replica()) {
    for (const Replica* replica : attempts) {
      if (IsLost(builder, *replica)) {
        builder.Forget(*replica);
      } else if (const auto give_up = GiveUpAt(builder, *replica)) {
        builder.Requeue(*give_up);
      }
    }
  }
}

void StartReplicas(PlanBuilder& builder) {
  if (builder.spec().run_policy().suspend()) return;
  for (const Role role : kRoles) {
    if (builder.WorkDone() && role != Role::kEvaluator) continue;
    for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), role); ++i) {
      StartWhenDue(builder, {role, i});
    }
  }
}

}  // namespace pstrain::plan
