#include <string>
#include <string_view>

#include "operator/plan/conditions.h"
#include "operator/plan/policies.h"
#include "operator/plan/timestamp.h"

namespace pstrain::plan {
namespace {

void SetCondition(Draft& draft, std::string_view type, bool value, std::string_view reason,
                  std::string_view message = {}) {
  PutCondition({.type = type,
                .value = value,
                .reason = reason,
                .message = message,
                .generation = draft.snapshot().job.metadata().generation()},
               draft.now(), draft.status());
}

void CountAttempts(const Draft& draft, Role role, ReplicaStatus& counts) {
  counts.set_desired(DesiredReplicas(draft.spec(), role));
  for (const Replica& replica : draft.snapshot().replicas) {
    if (replica.id.role != role || replica.Ended()) continue;
    if (replica.terminating) {
      counts.set_terminating(counts.terminating() + 1);
      continue;
    }
    counts.set_active(counts.active() + 1);
    if (replica.ready) counts.set_ready(counts.ready() + 1);
  }
  for (const auto& [key, record] : draft.status().restarts().replicas()) {
    const bool same_role = key.substr(0, key.rfind('-')) == RoleName(role);
    if (!same_role) continue;
    counts.set_failed(counts.failed() + record.failures());
    if (record.succeeded()) counts.set_succeeded(counts.succeeded() + 1);
  }
  counts.set_summary(std::to_string(counts.ready()) + "/" + std::to_string(counts.desired()));
}

void SetReplicaStatuses(Draft& draft) {
  auto& statuses = *draft.status().mutable_replica_statuses();
  statuses.clear();
  for (const Role role : kRoles) {
    if (FindReplicaSpec(draft.spec(), role) == nullptr) continue;
    CountAttempts(draft, role, statuses[std::string(RoleName(role))]);
  }
}

struct Progress {
  bool all_run = true;  // every wanted place runs or has succeeded
  bool some_run = false;
  bool some_restart = false;  // a place that has run before does not run now
};

Progress Look(const Draft& draft) {
  Progress progress;
  for (const Role role : kRoles) {
    for (std::int32_t i = 0; i < DesiredReplicas(draft.spec(), role); ++i) {
      const ReplicaId id{role, i};
      const ReplicaRestarts record = draft.FindRecord(id);
      bool runs = false;
      for (const Replica* replica : draft.Attempts(id)) {
        runs |= replica->Live() && replica->phase == ReplicaPhase::kRunning;
      }
      progress.some_run |= runs;
      if (runs || record.succeeded()) continue;
      progress.all_run = false;
      progress.some_restart |= record.attempt() > 0;
    }
  }
  return progress;
}

bool AnyAlive(const Draft& draft) {
  for (const Replica& replica : draft.snapshot().replicas) {
    if (!replica.Ended()) return true;
  }
  return false;
}

void DescribeFinished(Draft& draft) {
  if (draft.finish_reason().empty()) return;  // finished in an earlier plan: conditions stand
  const bool succeeded = draft.status().phase() == JobStatus::Succeeded;
  draft.status().set_completion_time(FormatTimestamp(draft.now()));
  SetCondition(draft, "Running", false, draft.finish_reason());
  SetCondition(draft, "Restarting", false, draft.finish_reason());
  SetCondition(draft, "Suspended", false, draft.finish_reason());
  SetCondition(draft, "Succeeded", succeeded, draft.finish_reason(), draft.finish_message());
  SetCondition(draft, "Failed", !succeeded, draft.finish_reason(), draft.finish_message());
}

void DescribeSuspended(Draft& draft) {
  const bool stopped = !AnyAlive(draft);
  const std::string_view reason = stopped ? "JobSuspended" : "JobSuspending";
  if (stopped) {
    draft.status().set_phase(JobStatus::Suspended);
    draft.status().clear_start_time();
  }
  SetCondition(draft, "Running", false, reason);
  SetCondition(draft, "Restarting", false, reason);
  SetCondition(draft, "Suspended", stopped, reason);
}

void DescribeActive(Draft& draft) {
  const Progress progress = Look(draft);
  draft.status().set_phase(progress.some_run || progress.some_restart ? JobStatus::Running
                                                                      : JobStatus::Pending);
  SetCondition(draft, "Running", progress.all_run,
               progress.all_run ? "ReplicasRunning" : "ReplicasPending");
  SetCondition(draft, "Restarting", progress.some_restart,
               progress.some_restart ? "ReplicasRestarting" : "NoRestart");
  SetCondition(draft, "Suspended", false, "NotSuspended");
}

}  // namespace

void BuildStatus(Draft& draft) {
  draft.status().set_observed_generation(draft.snapshot().job.metadata().generation());
  draft.status().mutable_restarts();  // its zeros are written too
  SetReplicaStatuses(draft);
  SetCondition(draft, "Created", true, "JobCreated");
  if (draft.Finished()) {
    DescribeFinished(draft);
    return;
  }
  if (draft.spec().run_policy().suspend()) {
    DescribeSuspended(draft);
  } else {
    DescribeActive(draft);
  }
  SetCondition(draft, "Succeeded", false, "NotFinished");
  SetCondition(draft, "Failed", false, "NotFinished");
}

}  // namespace pstrain::plan
