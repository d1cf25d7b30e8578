#pragma once

#include <optional>

#include "operator/plan/plan_builder.h"

namespace pstrain::plan {

/// The policies of a plan: Plan calls them in the order of the fields of Policies, each decides one
/// thing, and a comment begins with the file that it is in. What they know and decide is in the
/// PlanBuilder, which belongs to one call of Plan: any thread, one for each builder.

/// restart.cc. Writes each end that the status does not hold yet into the counts: a success, a
/// crash (counts against backoffLimit; of an evaluator whose failures are ignored, and by a rule of
/// failurePolicy, only in its own record), a disruption (free), a stop that we asked for (no
/// count), or an exit 0 of a replica that starts always, and makes the next attempt the one to
/// start. Exit 85 is a disruption where the replica, or the chief whose word it follows, was told
/// to stop; of any replica but the chief three more in a row are believed, and what goes beyond is
/// a crash (docs/design/drained-by-whom.md).
void CountEnds(PlanBuilder& builder);
/// restart.cc. The earliest time of a replica's next attempt: immediately after a disruption and
/// after the first crash, then 1, 2, 4 ... 300 s after the last crash. Disrupted attempts that
/// lived under 10 s are followed by the same waits, from the first one on; one that lived for a
/// minute ends that series. Whatever the ends, a replica is made at most ten times in a minute.
Time NextStart(const ReplicaRestarts& record);

/// success.cc. The chief, or those whom successPolicy names, have exited 0, and so has every
/// evaluator of a job that runs its own program, but for one that is given up or starts always (the
/// built-in runtime's chief exits only when the final evaluation is in). Success of the built-in
/// chief is proven, not announced: Failed when the counts that it has left behind do not agree or
/// are not known. A program of your own is believed.
void DecideSuccess(PlanBuilder& builder);

/// ends/failure.cc. A replica has exited 87, more crashes than backoffLimit, a rule whose action is
/// FailJob, a crash that the role's restartPolicy, Never or ExitCode, does not forgive, a chief or
/// ps with more crashes than its own limit, or too few workers that are not given up. None of the
/// first five of an evaluator whose failures are ignored.
void DecideFailure(PlanBuilder& builder);

/// deadline.cc. activeDeadlineSeconds since the start; starts again when a suspended job resumes.
void DecideDeadline(PlanBuilder& builder);

/// replicas.cc. When a stopping attempt is given up: replacementTimeoutSeconds of its role after
/// the end of its grace period. Nothing without that field, and for one that ends by itself.
std::optional<Time> GiveUpAt(const PlanBuilder& builder, const Replica& replica);
/// replicas.cc. A stopping attempt whose node is lost, or that is given up: it counts as ended, and
/// nobody waits for it.
bool IsLost(const PlanBuilder& builder, const Replica& replica);
/// replicas.cc. Forgets those, and comes back when one of the others is to be given up.
void ForgetLost(PlanBuilder& builder);

/// suspend.cc. Stops the chief, which drains and checkpoints; the rest once no chief runs but a
/// lost one.
void SuspendReplicas(PlanBuilder& builder);

/// scale.cc. Stops replicas that the specification no longer asks for, the highest index first, and
/// all but the newest of several live attempts of one replica.
void ScaleReplicas(PlanBuilder& builder);

/// replicas.cc. Starts the next attempt of every wanted replica that has no live one and whose
/// backoff is over.
void StartReplicas(PlanBuilder& builder);

/// cleanup.cc. What remains of a finished job, by cleanPodPolicy.
void CleanUpReplicas(PlanBuilder& builder);
/// cleanup.cc. Deletes ended attempts that have a later ended one; the last stays for its logs.
void PruneAttempts(PlanBuilder& builder);

/// cleanup.cc. Deletes what runs on in the pods of ended attempts, whatever cleanPodPolicy says: it
/// would keep the pod's resources for ever.
void StopRests(PlanBuilder& builder);

/// status.cc. Phase, conditions, replicaStatuses, times.
void BuildStatus(PlanBuilder& builder);

/// The rules, replaceable one by one in tests.
struct Policies {
  void (*count_ends)(PlanBuilder&) = CountEnds;
  void (*decide_success)(PlanBuilder&) = DecideSuccess;
  void (*decide_failure)(PlanBuilder&) = DecideFailure;
  void (*decide_deadline)(PlanBuilder&) = DecideDeadline;
  void (*suspend_replicas)(PlanBuilder&) = SuspendReplicas;
  void (*scale_replicas)(PlanBuilder&) = ScaleReplicas;
  void (*start_replicas)(PlanBuilder&) = StartReplicas;
  void (*clean_up_replicas)(PlanBuilder&) = CleanUpReplicas;
  void (*prune_attempts)(PlanBuilder&) = PruneAttempts;
  void (*forget_lost)(PlanBuilder&) = ForgetLost;
  void (*stop_rests)(PlanBuilder&) = StopRests;
  void (*build_status)(PlanBuilder&) = BuildStatus;
};

}  // namespace pstrain::plan
