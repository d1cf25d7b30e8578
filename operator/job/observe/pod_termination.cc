#include "operator/job/observe/pod_termination.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/text/last_line.h"
#include "operator/job/observe/problem/problem.h"
#include "operator/job/observe/training_status.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::job {
namespace {

using plan::Disruption;
using plan::Replica;
using plan::ReplicaPhase;
using plan::Rest;

Disruption FromCondition(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, Disruption>, 5> kReasons = {{
      {"PreemptionByScheduler", Disruption::kPreempted},
      {"DeletionByTaintManager", Disruption::kTainted},
      {"EvictionByEvictionAPI", Disruption::kEvicted},
      {"TerminationByKubelet", Disruption::kNodePressure},
      {"DeletionByPodGC", Disruption::kNodeLost},
  }};
  for (const auto& [name, disruption] : kReasons) {
    if (reason == name) return disruption;
  }
  // A reason that is newer than this program is a disruption all the same: the condition says so.
  return reason.empty() ? Disruption::kNone : Disruption::kEvicted;
}

/// The init container whose failure kept the training container from running; null when none did.
const PodView::Stuck* FailedInit(const PodView& pod) {
  if (pod.phase != "Failed" || pod.container.terminated) return nullptr;
  for (const PodView::Stuck& stuck : pod.stuck) {
    if (stuck.init && stuck.container.terminated) return &stuck;
  }
  return nullptr;
}

/// The pod's own doing, as it was while an init container ran: more ephemeral storage than its
/// limit, or its own activeDeadlineSeconds.
bool IsOwnFault(const PodView& pod) {
  return FailedInit(pod) != nullptr || pod.pod_reason == "DeadlineExceeded";
}

/// The kubelet has failed the pod, and no container of it has ended: it was refused, also, after a
/// restart of the kubelet, when it ran already. Then its container is stopped, and what tells this
/// end from that of a pod that has written too much are the kubelet's words (rejectPod of
/// k8s.io/kubernetes/pkg/kubelet/kubelet.go).
Disruption FromRefusal(const PodView& pod) {
  if (pod.phase != "Failed" || pod.pod_reason.empty() || IsOwnFault(pod)) return Disruption::kNone;
  const PodView::Container& container = pod.container;
  if (container.terminated && !pod.pod_message.starts_with("Pod was rejected: ")) {
    return Disruption::kNone;
  }
  return container.running || container.terminated ? Disruption::kEvicted
                                                   : Disruption::kNotAdmitted;
}

Disruption FromPodReason(const PodView& pod) {
  if (pod.pod_reason == "Preempting") return Disruption::kPreempted;
  if (pod.pod_reason == "NodeLost") return Disruption::kNodeLost;
  for (const std::string_view shutdown : {"Terminated", "NodeShutdown", "Shutdown"}) {
    if (pod.pod_reason == shutdown) return Disruption::kNodePressure;
  }
  return FromRefusal(pod);
}

/// Nobody knows how the container ended: containerd finds no process of it after its node was reset
/// ("Unknown", 255; internal/cri/server/restart.go), or the kubelet no container of it
/// ("ContainerStatusUnknown", 137). Where the kubelet had a reason to end it, that counts.
Disruption FromLostContainer(const PodView& pod) {
  const PodView::Stuck* init = FailedInit(pod);
  const PodView::Container& container = init == nullptr ? pod.container : init->container;
  const bool lost = container.terminated && pod.pod_reason.empty() &&
                    (container.reason == "Unknown" || container.reason == "ContainerStatusUnknown");
  return lost ? Disruption::kNodeLost : Disruption::kNone;
}

Disruption DisruptionOf(const PodView& pod) {
  for (const Disruption disruption :
       {FromCondition(pod.disruption_reason), FromPodReason(pod), FromLostContainer(pod)}) {
    if (disruption != Disruption::kNone) return disruption;
  }
  return Disruption::kNone;
}

bool PodEnded(const PodView& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

/// The training container's end is known to be the program's own doing, whatever the kubelet writes
/// of the pod later: nobody had told it to stop, and no signal of unknown origin ended it.
bool EndedByItself(const PodView::Container& container) {
  if (container.told_to_stop) return false;
  return !container.agent_reason.empty() || container.reason == "OOMKilled" ||
         (container.signal == 0 && SignalOfExitCode(container.exit_code) == 0);
}

/// The training container has failed, and who ended it is yet to be said: a kubelet that evicts a
/// pod or shuts its node down writes its reason only once it has seen all containers end.
bool AwaitsVerdict(const PodView& pod) {
  const PodView::Container& container = pod.container;
  const bool open = container.terminated && container.exit_code != kExitSuccess && !PodEnded(pod) &&
                    !pod.deleted && pod.disruption_reason.empty();
  if (!open || container.told_to_stop) return open;
  return !pod.others_remain && !(pod.sidecars_remain && EndedByItself(container));
}

/// SIGTERM has ended the training container, and others run on: somebody stops the pod, or if
/// nobody does, we have to.
bool StopsForSomebody(const PodView& pod) { return AwaitsVerdict(pod) && pod.others_remain; }

/// That of the training container where it is known: the pod's own phase speaks of all containers,
/// so a sidecar that runs on would hide an end, one that failed make a success a crash, and one
/// that does not start make a running program a pending one.
ReplicaPhase PhaseOf(const PodView& pod) {
  if (pod.container.terminated && !AwaitsVerdict(pod)) {
    return pod.container.exit_code == kExitSuccess ? ReplicaPhase::kSucceeded
                                                   : ReplicaPhase::kFailed;
  }
  if (pod.phase == "Succeeded") return ReplicaPhase::kSucceeded;
  if (pod.phase == "Failed") return ReplicaPhase::kFailed;
  const bool runs = pod.container.running || pod.container.terminated || pod.phase == "Running";
  return runs ? ReplicaPhase::kRunning : ReplicaPhase::kPending;
}

/// Of a pod whose training container has ended.
Rest RestOf(const PodView& pod) {
  if (PodEnded(pod)) return Rest::kNone;
  return pod.others_remain && !pod.deleted ? Rest::kRuns : Rest::kStops;
}

/// When the training program started. A pod "starts" when the kubelet takes it, long before its
/// image is there; that time counts only where the container's own is not known. Of a program that
/// could not be started the kubelet has 1970 for it.
std::optional<plan::Time> StartOf(const PodView& pod) {
  if (pod.container.CouldNotStart()) return std::nullopt;
  if (pod.container.started) return pod.container.started;
  return pod.container.running || pod.container.terminated ? pod.started : std::nullopt;
}

std::string ReasonOf(const PodView& pod, Disruption disruption) {
  if (disruption != Disruption::kNone && !pod.disruption_reason.empty()) {
    return pod.disruption_reason;
  }
  if (!pod.pod_reason.empty()) return pod.pod_reason;
  if (const PodView::Stuck* init = FailedInit(pod)) {
    return disruption == Disruption::kNone ? "InitContainerFailed" : init->container.reason;
  }
  // The agent has seen the program's own end; the kubelet only the agent's.
  return pod.container.agent_reason.empty() ? pod.container.reason : pod.container.agent_reason;
}

/// The platform's words where it ended the pod, else the agent's or the program's own.
std::string MessageOf(const PodView& pod) {
  if (!pod.disruption_reason.empty() && !pod.disruption_message.empty()) {
    return pod.disruption_message;
  }
  if (!pod.pod_reason.empty() && !pod.pod_message.empty()) return pod.pod_message;
  if (const PodView::Stuck* init = FailedInit(pod)) {
    std::string text = "init container " + init->name;
    const std::string_view line = LastLine(init->container.message);
    if (!line.empty()) text.append(": ").append(line);
    return text;
  }
  const PodView::Container& container = pod.container;
  const std::string hint = StartHintOf(pod);
  if (!hint.empty()) return hint + ": " + container.message;
  return container.agent_message.empty() ? container.message : container.agent_message;
}

std::optional<plan::FinalCounts> CountsOf(const PodView& pod) {
  if (pod.replica.role != plan::Role::kChief || !pod.container.terminated) return std::nullopt;
  const auto reading = ReadingFromTermination(pod.container.message, plan::Time(), pod.attempt);
  return reading ? FinalCountsOf(*reading) : std::nullopt;
}

std::optional<plan::StatedFailure> FailureOf(const PodView& pod) {
  if (!pod.container.terminated || pod.container.exit_code != kExitPermanent) return std::nullopt;
  return pod.container.failure;
}

}  // namespace

Replica ToReplica(const PodView& pod) {
  Replica replica;
  replica.id = pod.replica;
  replica.attempt = pod.attempt;
  replica.phase = PhaseOf(pod);
  replica.terminating = pod.deleted.has_value() || StopsForSomebody(pod);
  replica.stop_by = pod.deleted;
  replica.ready = pod.ready && !replica.terminating;
  const PodView::Stuck* init = FailedInit(pod);
  replica.exit_code = init == nullptr ? pod.container.exit_code : init->container.exit_code;
  replica.signal = pod.container.signal;
  if (replica.signal == 0) replica.signal = SignalOfExitCode(replica.exit_code);
  // Exit 0 of a container that was told to stop by a node that shuts down: the agent exits 85 when
  // work is left, so 0 is the end of the work.
  replica.disruption =
      replica.phase == ReplicaPhase::kSucceeded ? Disruption::kNone : DisruptionOf(pod);
  replica.conditions = pod.conditions;
  replica.reason = ReasonOf(pod, replica.disruption);
  replica.oom = pod.container.oom || pod.container.reason == "OOMKilled";
  replica.node = pod.node;
  replica.message = MessageOf(pod);
  replica.created = pod.created;
  replica.started = StartOf(pod);
  if (replica.Ended()) replica.ended = pod.container.finished;
  if (replica.Ended() || replica.terminating) {
    replica.rest = pod.container.terminated ? RestOf(pod) : Rest::kNone;
  }
  replica.failure = FailureOf(pod);
  replica.counts = CountsOf(pod);
  return replica;
}

Replica ToGoneReplica(const PodView& pod, plan::Time now) {
  Replica replica = ToReplica(pod);
  replica.rest = Rest::kNone;
  if (replica.Ended()) return replica;
  replica.phase = ReplicaPhase::kFailed;
  replica.ready = false;
  replica.terminating = !pod.container.terminated || StopsForSomebody(pod);
  replica.ended = pod.container.finished.value_or(now);
  if (replica.reason.empty()) replica.reason = "Deleted";
  return replica;
}

}  // namespace pstrain::job
