#include <string>
#include <string_view>

#include "operator/plan/conditions.h"
#include "operator/plan/policies.h"
#include "operator/plan/timestamp.h"

namespace pstrain::plan {
namespace {

void SetCondition(PlanBuilder& builder, std::string_view type, bool value, std::string_view reason,
                  std::string_view message = {}) {
  PutCondition({.type = type,
                .value = value,
                .reason = reason,
                .message = message,
                .generation = builder.snapshot().job.metadata().generation()},
               builder.now(), builder.status());
}

void CountAttempts(const PlanBuilder& builder, Role role, ReplicaStatus& counts) {
  counts.set_desired(DesiredReplicas(builder.spec(), role));
  for (const Replica& replica : builder.snapshot().replicas) {
    if (replica.id.role != role || replica.Ended()) continue;
    if (replica.terminating) {
      counts.set_terminating(counts.terminating() + 1);
      continue;
    }
    counts.set_active(counts.active() + 1);
    if (replica.ready) counts.set_ready(counts.ready() + 1);
  }
  for (const auto& [key, record] : builder.status().restarts().replicas()) {
    const bool same_role = key.substr(0, key.rfind('-')) == RoleName(role);
    if (!same_role) continue;
    counts.set_failed(counts.failed() + record.failures());
    if (record.succeeded()) counts.set_succeeded(counts.succeeded() + 1);
    if (record.given_up()) counts.set_given_up(counts.given_up() + 1);
  }
  counts.set_summary(std::to_string(counts.ready()) + "/" + std::to_string(counts.desired()));
}

void SetReplicaStatuses(PlanBuilder& builder) {
  auto& statuses = *builder.status().mutable_replica_statuses();
  statuses.clear();
  for (const Role role : kRoles) {
    if (FindReplicaSpec(builder.spec(), role) == nullptr) continue;
    CountAttempts(builder, role, statuses[std::string(RoleName(role))]);
  }
}

struct Progress {
  bool all_run = true;  // every wanted replica runs or has succeeded
  bool some_run = false;
  bool some_restart = false;  // a replica that has run before does not run now
  int waiting = 0;            // replicas whose next attempt has to wait, and the first of them
  std::string first_waiting;
};

/// Says whom the next attempt waits for, why, and how the last one ended.
std::string DescribeWait(const ReplicaId& id, const ReplicaRestarts& record) {
  std::string text = ReplicaKey(id) + " does not start again before ";
  text += FormatTimestamp(NextStart(record)) + ": ";
  if (record.short_attempts() > 0) {
    text += std::to_string(record.short_attempts()) + " attempts in a row were ended within 10 s";
    if (record.consecutive_failures() > 0) text += ", and ";
  }
  if (record.consecutive_failures() > 0) {
    text += std::to_string(record.consecutive_failures()) + " attempts in a row failed";
  }
  return record.has_last_end()
             ? text + "; the last was " + DescribeAttemptEnd(id, record.last_end())
             : text;
}

/// Says that the next attempt waits for the pod of an earlier one that should have gone; empty when
/// there is none.
std::string DescribeOverdue(const PlanBuilder& builder, const Replica& replica) {
  const bool overdue = replica.terminating && !replica.Gone() && replica.stop_by &&
                       *replica.stop_by <= builder.now();
  if (!overdue) return {};
  std::string text = ReplicaKey(replica.id) + " waits for its attempt ";
  text += std::to_string(replica.attempt) + " on node " + replica.node;
  text += ", which should have stopped by " + FormatTimestamp(*replica.stop_by);
  text += "; the wait ends when it has stopped, when its Node is deleted, or when the Node has ";
  text += "the taint node.kubernetes.io/out-of-service";
  const std::optional<Time> give_up = GiveUpAt(builder, replica);
  return give_up ? text + ", at the latest at " + FormatTimestamp(*give_up)
                 : text + "; replacementTimeoutSeconds would bound it";
}

Progress SummarizeReplicas(const PlanBuilder& builder) {
  Progress progress;
  for (const Role role : kRoles) {
    for (std::int32_t i = 0; i < DesiredReplicas(builder.spec(), role); ++i) {
      const ReplicaId id{role, i};
      const ReplicaRestarts record = builder.FindRecord(id);
      bool runs = false;
      for (const Replica* replica : builder.Attempts(id)) {
        runs |= replica->Live() && replica->phase == ReplicaPhase::kRunning;
      }
      progress.some_run |= runs;
      if (runs || record.succeeded() || record.given_up()) continue;
      progress.all_run = false;
      progress.some_restart |= record.attempt() > 0;
      if (!builder.Attempts(id).empty() && builder.Attempts(id).back()->Live()) continue;
      std::string wait;
      if (ReplacesAfterTermination(builder.spec(), role)) {
        for (const Replica* replica : builder.Attempts(id)) {
          if (wait.empty()) wait = DescribeOverdue(builder, *replica);
        }
      }
      progress.some_restart |= !wait.empty();
      if (wait.empty() && NextStart(record) > builder.now()) wait = DescribeWait(id, record);
      if (!wait.empty() && ++progress.waiting == 1) progress.first_waiting = wait;
    }
  }
  return progress;
}

bool AnyAlive(const PlanBuilder& builder) {
  for (const Replica& replica : builder.snapshot().replicas) {
    if (!replica.Gone()) return true;
  }
  return false;
}

void DescribeFinished(PlanBuilder& builder) {
  if (builder.finish_reason().empty()) return;  // finished in an earlier plan: conditions stand
  const bool succeeded = builder.status().phase() == JobStatus::Succeeded;
  builder.status().set_completion_time(FormatTimestamp(builder.now()));
  SetCondition(builder, "Running", false, builder.finish_reason());
  SetCondition(builder, "Restarting", false, builder.finish_reason());
  SetCondition(builder, "Suspended", false, builder.finish_reason());
  SetCondition(builder, "Succeeded", succeeded, builder.finish_reason(), builder.finish_message());
  SetCondition(builder, "Failed", !succeeded, builder.finish_reason(), builder.finish_message());
}

void DescribeSuspended(PlanBuilder& builder) {
  const bool stopped = !AnyAlive(builder);
  const std::string_view reason = stopped ? "JobSuspended" : "JobSuspending";
  if (stopped) {
    builder.status().set_phase(JobStatus::Suspended);
    builder.status().clear_start_time();
  }
  SetCondition(builder, "Running", false, reason);
  SetCondition(builder, "Restarting", false, reason);
  std::string overdue;
  for (const Replica& replica : builder.snapshot().replicas) {
    if (overdue.empty()) overdue = DescribeOverdue(builder, replica);
  }
  SetCondition(builder, "Suspended", stopped, reason, overdue);
}

void DescribeActive(PlanBuilder& builder) {
  Progress progress = SummarizeReplicas(builder);
  if (progress.waiting > 1) {
    progress.first_waiting += "; " + std::to_string(progress.waiting - 1) + " more wait";
  }
  builder.status().set_phase(progress.some_run || progress.some_restart ? JobStatus::Running
                                                                        : JobStatus::Pending);
  SetCondition(builder, "Running", progress.all_run,
               progress.all_run ? "ReplicasRunning" : "ReplicasPending");
  SetCondition(builder, "Restarting", progress.some_restart,
               progress.some_restart ? "ReplicasRestarting" : "NoRestart", progress.first_waiting);
  SetCondition(builder, "Suspended", false, "NotSuspended");
}

}  // namespace

void BuildStatus(PlanBuilder& builder) {
  builder.status().set_observed_generation(builder.snapshot().job.metadata().generation());
  builder.status().mutable_restarts();  // its zeros are written too
  SetReplicaStatuses(builder);
  SetCondition(builder, "Created", true, "JobCreated");
  if (builder.Finished()) {
    DescribeFinished(builder);
    return;
  }
  if (builder.spec().run_policy().suspend()) {
    DescribeSuspended(builder);
  } else {
    DescribeActive(builder);
  }
  SetCondition(builder, "Succeeded", false, "NotFinished");
  SetCondition(builder, "Failed", false, "NotFinished");
}

}  // namespace pstrain::plan
