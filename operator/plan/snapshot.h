#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"
#include "proto/contract/run/final_counts.h"
#include "proto/contract/stated_failure.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::plan {

using Time = std::chrono::sys_time<std::chrono::milliseconds>;

using pstrain::DesiredReplicas;
using pstrain::FinalCounts;
using pstrain::FindReplicaSpec;
using pstrain::kRoles;
using pstrain::Role;
using pstrain::RoleFromName;
using pstrain::RoleName;
using pstrain::StatedFailure;

/// What Plan is asked about: values, which the executor that made them owns. The functions here are
/// pure; any thread.

/// A replica of a role. It keeps its id while its attempts end and are replaced.
struct ReplicaId {
  Role role = Role::kChief;
  std::int32_t index = 0;
  friend auto operator<=>(const ReplicaId&, const ReplicaId&) = default;
};

/// "<role>-<index>": the key of JobStatus.restarts.replicas.
std::string ReplicaKey(const ReplicaId& id);

/// How far an attempt of a replica is.
///
///   phase      | process or pod
///   kPending   | asked for, does not run yet
///   kRunning   | runs
///   kSucceeded | ended with exit code 0
///   kFailed    | ended otherwise
enum class ReplicaPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

/// Why the platform, not the program, ended an attempt. Kubernetes: the reason of the pod condition
/// DisruptionTarget, else the pod's own reason (KEP-3329).
enum class Disruption : std::uint8_t {
  kNone,
  kPreempted,     // PreemptionByScheduler, Preempting
  kTainted,       // DeletionByTaintManager
  kEvicted,       // EvictionByEvictionAPI
  kNodePressure,  // TerminationByKubelet, also a graceful node shutdown
  kNodeLost,      // DeletionByPodGC, NodeLost
  kNotAdmitted,   // the kubelet refused the pod: no container ever ran
};

/// What is left of the pod of an attempt whose training program has ended.
enum class Rest : std::uint8_t {
  kNone,
  kStops,  // it is being stopped, or ends by itself
  kRuns,   // other containers run on until somebody stops them
};

/// A condition of a pod, but for those that every pod has whatever becomes of it.
struct PodCondition {
  std::string type;
  std::string status;
};

/// One attempt of a replica, as the executor sees it.
struct Replica {
  ReplicaId id;
  std::int32_t attempt = 0;
  ReplicaPhase phase = ReplicaPhase::kPending;
  bool ready = false;
  /// Told to stop: deletionTimestamp, or the local executor has sent SIGTERM.
  bool terminating = false;
  /// When it should have stopped at the latest: the end of its grace period. Kubernetes: the
  /// deletionTimestamp.
  std::optional<Time> stop_by;
  /// Nothing runs on its node any more, and nobody is left there to say so.
  bool node_lost = false;
  /// The agent's exit code: the program's own, or 128 + signal.
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  /// Why it ended or ends, in one word; empty when nobody says.
  std::string reason;
  /// Killed because its memory was used up.
  bool oom = false;
  /// Where it runs; empty on one machine.
  std::string node;
  /// The last words about its end; empty when there are none.
  std::string message;
  Disruption disruption = Disruption::kNone;
  /// Of its pod; a process has none.
  std::vector<PodCondition> conditions;
  /// When it was asked for, by the clock that `now` of Plan is of as well; unknown on one machine.
  /// Its other times may be of a clock that is wrong.
  std::optional<Time> created;
  std::optional<Time> started;
  std::optional<Time> ended;
  /// What a program that has exited 87 says of it, where it says anything.
  std::optional<StatedFailure> failure;
  /// kNone while the program runs, and of a process.
  Rest rest = Rest::kNone;
  /// Of a built-in chief that has ended, when they are known.
  std::optional<FinalCounts> counts;

  /// The training program has ended.
  bool Ended() const { return phase == ReplicaPhase::kSucceeded || phase == ReplicaPhase::kFailed; }
  /// Ended, and nothing of its pod is left.
  bool Gone() const { return Ended() && rest == Rest::kNone; }
  /// Not ended and not told to stop.
  bool Live() const { return !Ended() && !terminating; }
};

/// Why it ended or ends, in one word, also when the executor says none: AttemptEnd.reason. Pure.
std::string ReasonOf(const Replica& replica);

/// How an attempt ended, or ends at `when` as far as it is seen, for the status. Of the message
/// only the beginning: a status has one for each replica, and an object at most 1.5 MB. Pure.
AttemptEnd MakeAttemptEnd(const Replica& replica, Time when);

/// "worker-1 on node n2: OOMKilled, exit code 137: the last line of the message": for conditions
/// and events. Pure.
std::string DescribeAttemptEnd(const ReplicaId& id, const AttemptEnd& end);

/// Everything that Plan may look at. `job.status` is the status that was last stored: an executor
/// stores the status of a plan before it acts on the rest, so the counts in it are never behind.
struct Snapshot {
  PSTrainingJob job;
  std::vector<Replica> replicas;
  /// Time between SIGTERM and SIGKILL for a replica that may want to save its work.
  std::chrono::seconds grace{30};
  /// The executor reads the result of a built-in chief that has exited 0 before it calls the job
  /// succeeded, as `pstrain run` does: Replica::counts need not be known.
  bool executor_checks_result = false;
};

/// True when the next attempt of a replica waits until the one before is gone: by default in a
/// job that runs its own program, which finds its peers by name.
bool ReplacesAfterTermination(const JobSpec& spec, Role role);

/// What restartPolicy and evaluatorFailures say of a role; pure.
RestartPolicy RestartPolicyOf(const JobSpec& spec, Role role);
/// It starts again when it has exited 0.
bool StartsAlways(const JobSpec& spec, Role role);
/// Its crashes are nothing to the job.
bool IgnoresFailures(const JobSpec& spec, Role role);
/// What of the role's pods is deleted when the job has ended: by its own policy, else the job's.
RunPolicy::CleanPodPolicy CleanPodPolicyOf(const JobSpec& spec, Role role);
/// Of a crash: the role's policy, or exit code 87, forbids another attempt.
bool FailsForGood(const JobSpec& spec, const Replica& crash);

}  // namespace pstrain::plan
