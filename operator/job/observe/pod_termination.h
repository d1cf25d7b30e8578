#pragma once

#include "operator/job/observe/pod_view.h"
#include "operator/plan/snapshot.h"

namespace pstrain::job {

/// How the Plan sees a pod. Pure; any thread. It ends when its training container ends, whatever
/// else runs in it: what is left of it is Replica::rest. Only a failure after which nothing else
/// runs in the pod is judged with the pod's own end: the kubelet writes its reasons then. Where
/// only sidecars of initContainers run on, so is a kill of which nobody says whose. What ended it
/// is judged in this order: condition DisruptionTarget, deletionTimestamp, the pod's own reason,
/// the container's reason, the exit code; an exit code alone cannot tell an eviction from a memory
/// limit.
///
///   cause                                | seen as
///   -------------------------------------+-------------------------------------------------
///   preempted, taint, drain, node gone   | that disruption (DisruptionTarget's reason)
///   deleted by anyone                    | terminating; a disruption in the Plan
///   node pressure, node shutdown         | disruption (TerminationByKubelet, or reason
///                                        | Terminated, NodeShutdown or Shutdown)
///   kubelet's preemption for a critical  | disruption (reason Preempting)
///   refused by the kubelet at admission  | disruption: no container ran, or one ran when a
///                                        | kubelet that was restarted refused it
///   node lost without a condition        | disruption (reason NodeLost)
///   node reset, container lost           | disruption: the container's reason is Unknown or
///                                        | ContainerStatusUnknown
///   own ephemeral-storage limit          | crash, reason Evicted
///   own activeDeadlineSeconds            | crash, reason DeadlineExceeded
///   an init container's end              | crash, reason InitContainerFailed
///   SIGTERM, and nothing says whose      | terminating while other containers run: the kubelet
///                                        | says who stops a pod when all of them have ended
///   own memory limit                     | crash, reason OOMKilled
///   the program's own exit, or a kill    | crash, or success; exit 85 and 86: by the Plan
///
/// docs/reference/pod-ends.md has them one by one, from tests/golden/pod_ends.json. Source:
/// KEP-3329 (Retriable and non-retriable Pod failures), KEP-2000 (Graceful node shutdown).
plan::Replica ToReplica(const PodView& pod);

/// The same for a pod that is gone from the apiserver, by its last state: what had ended keeps its
/// end, anything else was taken away.
plan::Replica ToGoneReplica(const PodView& pod, plan::Time now);

}  // namespace pstrain::job
