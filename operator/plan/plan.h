#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "operator/plan/ends/failure_rules.h"
#include "operator/plan/snapshot.h"

namespace pstrain::plan {

struct Policies;

/// Store this status. Always the first action of a plan that has one; an executor that cannot store
/// it does nothing else of the plan.
struct SetStatus {
  JobStatus status;
};
/// The most that StopReplica::grace is once the job has finished: nothing is left to save.
inline constexpr std::chrono::seconds kFinishedGrace{5};

/// Tell the attempt to stop: SIGTERM, and SIGKILL after the grace.
struct StopReplica {
  ReplicaId id;
  std::int32_t attempt = 0;
  std::chrono::seconds grace{0};
};
/// Forget an attempt whose program has ended: a pod that only holds logs, or whose other containers
/// run on.
struct DeleteReplica {
  ReplicaId id;
  std::int32_t attempt = 0;
};
/// Forget an attempt that does not end because nobody is left to end it: a pod deleted by force.
struct ForgetReplica {
  ReplicaId id;
  std::int32_t attempt = 0;
};
/// Start this attempt of the replica.
struct StartReplica {
  ReplicaId id;
  std::int32_t attempt = 0;
};
/// Plan again at that time even if nothing changes (controller-runtime: RequeueAfter). At most one
/// per plan, the last action.
struct RequeueAt {
  Time time;
};

using Action =
    std::variant<SetStatus, StopReplica, DeleteReplica, ForgetReplica, StartReplica, RequeueAt>;

/// Why an attempt that is counted ended. Of failures there are two causes; the others are
/// disruptions: those of Disruption, a deletion by anyone, and the program's own exit 85 or 86.
enum class RestartCause : std::uint8_t {
  kCrashed,
  kOomKilled,
  kPreempted,
  kTainted,
  kEvicted,
  kNodePressure,
  kNodeLost,
  kNotAdmitted,
  kDeleted,
  kDrained,
  kDisrupted,
};
inline constexpr std::size_t kRestartCauses = 11;
/// "oom_killed": the label `cause` of pstrain_job_restarts_total.
std::string_view RestartCauseName(RestartCause cause);

/// An end that this plan counts: for an event.
struct CountedEnd {
  ReplicaId id;
  std::int32_t attempt = 0;
  /// A crash, by itself or by a rule.
  bool failure = false;
  /// Of a crash: it counts against backoffLimit.
  bool counts = false;
  /// What a rule of failurePolicy says of it, where one does: instead of restartPolicy.
  std::optional<Ruling> ruling;
  /// The replica is not started again, and the job goes on without it.
  bool given_up = false;
  RestartCause cause = RestartCause::kCrashed;
  AttemptEnd end;
};

/// What is to be done, and what the status will say.
struct PlanResult {
  std::vector<Action> actions;
  /// Crashes and disruptions that `status` counts and the snapshot's did not.
  std::vector<CountedEnd> ends;
  /// The status after this plan, equal to the snapshot's when there is no SetStatus.
  JobStatus status;
};

/// Decides what to do about a job. Pure: no clock, no memory, no I/O, any thread; the same snapshot
/// and time give the same plan. Counts live in the status, so a plan may be made by another process
/// than the one before. Acting on a plan and planning again at the same time gives no action but
/// RequeueAt.
PlanResult Plan(const Snapshot& snapshot, Time now);

/// The same with other policies; tests replace one by a wrong one.
PlanResult Plan(const Snapshot& snapshot, Time now, const Policies& policies);

/// True when the status says Succeeded or Failed: nothing but clean-up happens from there.
bool IsFinished(const JobStatus& status);

}  // namespace pstrain::plan
