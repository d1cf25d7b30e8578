#pragma once

#include "operator/plan/draft.h"

namespace pstrain::plan {

/// restart.cc. Writes each end that the status does not hold yet into the counts: a success, a
/// crash (counts against backoffLimit), a disruption (free) or a stop that we asked for (no count),
/// and moves the place on to its next attempt.
void CountEnds(Draft& draft);
/// restart.cc. The earliest time of the place's next attempt: at once after a disruption and after
/// the first crash, then 1, 2, 4 ... 300 s after the last crash.
Time NextStart(const ReplicaRestarts& record);

/// success.cc. The chief has exited 0, and so has every evaluator of a job that runs its own
/// program (the built-in runtime's chief exits only when the final evaluation is in).
void DecideSuccess(Draft& draft);

/// failure.cc. More crashes than backoffLimit, or a crash in a role whose restartPolicy is Never.
void DecideFailure(Draft& draft);

/// deadline.cc. activeDeadlineSeconds since the start; starts anew when a suspended job resumes.
void DecideDeadline(Draft& draft);

/// suspend.cc. Stops the chief, which drains and checkpoints; the rest once no chief runs.
void SuspendReplicas(Draft& draft);

/// scale.cc. Stops places that the specification no longer asks for, the highest index first, and
/// all but the newest of several live attempts of one place.
void ScaleReplicas(Draft& draft);

/// replicas.cc. Starts the next attempt of every wanted place that has no live one and whose wait
/// is over.
void StartReplicas(Draft& draft);

/// cleanup.cc. What remains of a finished job, by cleanPodPolicy.
void CleanUpReplicas(Draft& draft);
/// cleanup.cc. Deletes ended attempts that have a later ended one; the last stays for its logs.
void PruneAttempts(Draft& draft);

/// status.cc. Phase, conditions, replicaStatuses, times.
void BuildStatus(Draft& draft);

/// The rules, replaceable one by one in tests.
struct Policies {
  void (*count_ends)(Draft&) = CountEnds;
  void (*decide_success)(Draft&) = DecideSuccess;
  void (*decide_failure)(Draft&) = DecideFailure;
  void (*decide_deadline)(Draft&) = DecideDeadline;
  void (*suspend_replicas)(Draft&) = SuspendReplicas;
  void (*scale_replicas)(Draft&) = ScaleReplicas;
  void (*start_replicas)(Draft&) = StartReplicas;
  void (*clean_up_replicas)(Draft&) = CleanUpReplicas;
  void (*prune_attempts)(Draft&) = PruneAttempts;
  void (*build_status)(Draft&) = BuildStatus;
};

}  // namespace pstrain::plan
