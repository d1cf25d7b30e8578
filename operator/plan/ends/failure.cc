#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/last_line.h"
#include "operator/plan/ends/failure_rules.h"
#include "operator/plan/policies.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/stated_failure.h"

namespace pstrain::plan {
namespace {

/// The first replica that says itself that no attempt of it can succeed. A replica that was told to
/// stop is not asked for its reasons.
const Replica* FailedForGood(const PlanBuilder& builder) {
  for (const auto& [id, attempts] : builder.attempts_by_replica()) {
    for (const Replica* replica : attempts) {
      if (IgnoresFailures(builder.spec(), id.role)) continue;
      const bool own_end = replica->disruption == Disruption::kNone && !replica->terminating;
      if (replica->Ended() && own_end && replica->exit_code == kExitPermanent) return replica;
    }
  }
  return nullptr;
}

/// How the last crash ended, as "; the last was <replica>..."; empty when nobody knows any more.
std::string DescribeLastCrash(const PlanBuilder& builder) {
  const std::vector<CountedEnd>& ends = builder.ends();
  const auto last = std::find_if(ends.rbegin(), ends.rend(),
                                 [](const CountedEnd& counted) { return counted.counts; });
  return last == ends.rend() ? "" : "; the last was " + DescribeAttemptEnd(last->id, last->end);
}

/// A crash of which the role's restartPolicy says that it fails the job.
void FailByRestartPolicy(PlanBuilder& builder, const CountedEnd& counted) {
  const ReplicaId& id = counted.id;
  const RestartPolicy policy = RestartPolicyOf(builder.spec(), id.role);
  const std::string end = "; " + DescribeAttemptEnd(id, counted.end);
  if (policy == RestartPolicy::Never && id.index < DesiredReplicas(builder.spec(), id.role)) {
    builder.Finish(JobStatus::Failed, "ReplicaFailed",
                   ReplicaKey(id) + " failed and its restartPolicy is Never" + end);
  } else if (policy == RestartPolicy::ExitCode && IsPermanentExit(counted.end.exit_code())) {
    builder.Finish(JobStatus::Failed, "ReplicaFailed",
                   ReplicaKey(id) + " exited with code " + std::to_string(counted.end.exit_code()) +
                       ", which restartPolicy ExitCode does not try again" + end);
  }
}

/// A chief or ps with more crashes than the limit of its own.
void FailByOwnLimit(PlanBuilder& builder, const CountedEnd& counted) {
  const ReplicaId& id = counted.id;
  const ReplicaRestarts record = builder.FindRecord(id);
  if (MayBeGivenUp(id.role) || !ExceedsOwnLimit(builder.spec(), id.role, record)) return;
  const std::int32_t limit = FindReplicaSpec(builder.spec(), id.role)->backoff_limit_per_replica();
  builder.Finish(JobStatus::Failed, "BackoffLimitPerReplicaExceeded",
                 ReplicaKey(id) + " failed " +
                     std::to_string(record.failures() - record.ignored_failures()) +
                     " times, its backoffLimitPerReplica is " + std::to_string(limit) +
                     "; the last was " + DescribeAttemptEnd(id, counted.end));
}

/// Of this plan's ends alone: an earlier one was no reason when it was counted.
void FailByEnds(PlanBuilder& builder) {
  for (const CountedEnd& counted : builder.ends()) {
    if (counted.ruling && counted.ruling->action == FailureRule::FailJob) {
      builder.Finish(
          JobStatus::Failed, "FailurePolicy",
          DescribeAttemptEnd(counted.id, counted.end) + "; " + DescribeRuling(*counted.ruling));
    }
    if (!counted.counts) continue;
    if (!counted.ruling) FailByRestartPolicy(builder, counted);
    FailByOwnLimit(builder, counted);
  }
}

/// The job can no longer succeed, or nobody is left who works for it: workers are given up, and
/// those that it succeeds by have ended or are among them.
void FailByGivenUpWorkers(PlanBuilder& builder) {
  const std::int32_t workers = DesiredReplicas(builder.spec(), Role::kWorker);
  std::int32_t given_up = 0;
  std::int32_t succeeded = 0;
  ReplicaId first{Role::kWorker, 0};
  for (std::int32_t i = workers - 1; i >= 0; --i) {
    const ReplicaRestarts record = builder.FindRecord({Role::kWorker, i});
    if (record.succeeded()) ++succeeded;
    if (!record.given_up()) continue;
    ++given_up;
    first.index = i;
  }
  if (given_up == 0) return;
  const JobSpec::SuccessPolicy policy = builder.spec().success_policy();
  const bool all =
      policy == JobSpec::AllWorkers ? given_up + succeeded == workers : given_up == workers;
  if (!all && (policy != JobSpec::Worker0 || first.index != 0)) return;
  const ReplicaRestarts record = builder.FindRecord(first);
  builder.Finish(
      JobStatus::Failed, "WorkersGivenUp",
      std::to_string(given_up) + " of " + std::to_string(workers) +
          " workers are given up, and the job cannot succeed without them; the first is " +
          DescribeAttemptEnd(first, record.last_end()));
}

/// Records are many and copies of them cost; most jobs have nobody given up.
bool AnyGivenUp(const PlanBuilder& builder) {
  const auto& records = builder.status().restarts().replicas();
  return std::any_of(records.begin(), records.end(),
                     [](const auto& entry) { return entry.second.given_up(); });
}

}  // namespace

void DecideFailure(PlanBuilder& builder) {
  if (const Replica* replica = FailedForGood(builder)) {
    const std::string key = ReplicaKey(replica->id);
    if (replica->failure) {
      builder.Finish(JobStatus::Failed, replica->failure->reason,
                     key + ": " + replica->failure->message);
      return;
    }
    const std::string_view said = LastLine(replica->message);
    builder.Finish(JobStatus::Failed, std::string(kFailedForGoodReason),
                   key + " exited with code " + std::to_string(kExitPermanent) +
                       ": no attempt can succeed; " +
                       (said.empty() ? "its log says why" : std::string(said)));
    return;
  }
  FailByEnds(builder);
  if (!builder.WorkDone() && AnyGivenUp(builder)) FailByGivenUpWorkers(builder);
  const std::int32_t failures = builder.status().restarts().failures();
  const std::int32_t limit = builder.spec().run_policy().backoff_limit();
  if (failures > limit) {
    builder.Finish(JobStatus::Failed, "BackoffLimitExceeded",
                   "replicas failed " + std::to_string(failures) + " times, backoffLimit is " +
                       std::to_string(limit) + DescribeLastCrash(builder));
  }
}

}  // namespace pstrain::plan
