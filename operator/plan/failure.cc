#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/last_line.h"
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
  const auto last = std::find_if(ends.rbegin(), ends.rend(), [&builder](const CountedEnd& counted) {
    return counted.failure && !IgnoresFailures(builder.spec(), counted.id.role);
  });
  return last == ends.rend() ? "" : "; the last was " + DescribeAttemptEnd(last->id, last->end);
}

/// "; <replica>..." of a replica that has crashed, when it is known how.
std::string DescribeEndOf(const PlanBuilder& builder, const ReplicaId& id) {
  const ReplicaRestarts record = builder.FindRecord(id);
  return record.has_last_end() ? "; " + DescribeAttemptEnd(id, record.last_end()) : "";
}

/// A crash of which the role's restartPolicy says that it fails the job.
void FailByRestartPolicy(PlanBuilder& builder) {
  for (const Role role : kRoles) {
    const ReplicaSpec* spec = FindReplicaSpec(builder.spec(), role);
    if (spec == nullptr || spec->restart_policy() != RestartPolicy::Never) continue;
    if (IgnoresFailures(builder.spec(), role)) continue;
    for (std::int32_t i = 0; i < spec->replicas(); ++i) {
      if (builder.FindRecord({role, i}).failures() == 0) continue;
      builder.Finish(JobStatus::Failed, "ReplicaFailed",
                     ReplicaKey({role, i}) + " failed and its restartPolicy is Never" +
                         DescribeEndOf(builder, {role, i}));
    }
  }
  // Of this plan's ends alone: an earlier one was no reason when it was counted.
  for (const CountedEnd& counted : builder.ends()) {
    const Role role = counted.id.role;
    const bool by_code = RestartPolicyOf(builder.spec(), role) == RestartPolicy::ExitCode &&
                         IsPermanentExit(counted.end.exit_code());
    if (!counted.failure || !by_code || IgnoresFailures(builder.spec(), role)) continue;
    builder.Finish(JobStatus::Failed, "ReplicaFailed",
                   ReplicaKey(counted.id) + " exited with code " +
                       std::to_string(counted.end.exit_code()) +
                       ", which restartPolicy ExitCode does not try again; " +
                       DescribeAttemptEnd(counted.id, counted.end));
  }
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
  FailByRestartPolicy(builder);
  const std::int32_t failures = builder.status().restarts().failures();
  const std::int32_t limit = builder.spec().run_policy().backoff_limit();
  if (failures > limit) {
    builder.Finish(JobStatus::Failed, "BackoffLimitExceeded",
                   "replicas failed " + std::to_string(failures) + " times, backoffLimit is " +
                       std::to_string(limit) + DescribeLastCrash(builder));
  }
}

}  // namespace pstrain::plan
