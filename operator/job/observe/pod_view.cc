#include "operator/job/observe/pod_view.h"

#include <algorithm>
#include <string_view>

#include "base/text/parse_number.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/timestamp.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/reserved_names.h"
#include "proto/contract/training_container.h"

namespace pstrain::job {
namespace {

std::optional<std::int32_t> ParseIndex(std::string_view text) {
  const auto value = ParseNumber<std::int32_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

Status ReadLabels(const Json& metadata, PodView& view) {
  const Json* labels = metadata.Find("labels");
  view.job_name = kube::TextOrEmpty(labels, kJobNameLabel);
  const auto role = plan::RoleFromName(kube::TextOrEmpty(labels, kReplicaTypeLabel));
  const auto index = ParseIndex(kube::TextOrEmpty(labels, kReplicaIndexLabel));
  const auto attempt = ParseIndex(kube::TextOrEmpty(labels, kAttemptLabel));
  if (view.job_name.empty() || !role || !index || !attempt) {
    return InvalidArgumentError("pod " + view.name +
                                ": metadata.labels: " + std::string(kJobNameLabel) +
                                ", replica-type, replica-index and "
                                "attempt must be as the operator writes them");
  }
  view.replica = {*role, *index};
  view.attempt = *attempt;
  return OkStatus();
}

void ReadConditions(const Json& status, PodView& view) {
  const Json* conditions = status.Find("conditions");
  if (conditions == nullptr) return;
  for (const Json& condition : conditions->items()) {
    const std::string type = kube::TextOrEmpty(condition, "type");
    const bool is_true = kube::TextOrEmpty(condition, "status") == "True";
    if (type == "Ready") view.ready = is_true;
    // Ten thousand pods would each keep the five that say nothing.
    if (!IsConditionOfEveryPod(type)) {
      view.conditions.push_back({type, kube::TextOrEmpty(condition, "status")});
    }
    if (type == "DisruptionTarget" && is_true) {
      view.disruption_reason = kube::TextOrEmpty(condition, "reason");
      view.disruption_message = kube::TextOrEmpty(condition, "message");
    }
    if (type == "PodReadyToStartContainers") view.sandbox_ready = is_true;
    if (type == "PodScheduled" && is_true) {
      view.progressed = plan::ParseTimestamp(kube::TextOrEmpty(condition, "lastTransitionTime"));
    }
    if (type == "PodScheduled" && !is_true) {
      view.unscheduled_reason = kube::TextOrEmpty(condition, "reason");
      view.unscheduled_message = kube::TextOrEmpty(condition, "message");
    }
  }
}

/// What the agent says in the termination message; a program without it says what it likes.
void ReadAgentsWords(PodView::Container& container) {
  if (!container.message.starts_with('{')) return;
  const Result<Json> words = ParseJson(container.message);
  if (!words.ok()) return;
  const auto is_true = [&words](std::string_view key) {
    const Json* flag = words->Find(key);
    return flag != nullptr && flag->AsBool().value_or(false);
  };
  container.agent_reason = kube::TextOrEmpty(*words, "reason");
  container.failure = StatedFailureIn(words->Find("failure"));  // in place of a message
  container.agent_message =
      container.failure ? container.failure->message : kube::TextOrEmpty(*words, "message");
  container.oom = is_true("oom");
  container.told_to_stop = is_true("told_to_stop");
}

void ReadTerminated(const Json& terminated, PodView::Container& container) {
  container.exit_code = static_cast<std::int32_t>(kube::IntegerOrZero(terminated, "exitCode"));
  container.signal = static_cast<std::int32_t>(kube::IntegerOrZero(terminated, "signal"));
  container.reason = kube::TextOrEmpty(terminated, "reason");
  container.message = kube::TextOrEmpty(terminated, "message");
  ReadAgentsWords(container);
  container.started = plan::ParseTimestamp(kube::TextOrEmpty(terminated, "startedAt"));
  container.finished = plan::ParseTimestamp(kube::TextOrEmpty(terminated, "finishedAt"));
}

void ReadContainer(const Json& status, PodView::Container& container) {
  container.known = true;
  const Json* state = status.Find("state");
  if (state == nullptr) return;
  if (const Json* waiting = state->Find("waiting")) {
    container.waiting_reason = kube::TextOrEmpty(waiting, "reason");
    container.waiting_message = kube::TextOrEmpty(waiting, "message");
  }
  if (const Json* running = state->Find("running")) {
    container.running = true;
    container.started = plan::ParseTimestamp(kube::TextOrEmpty(running, "startedAt"));
  }
  const Json* terminated = state->Find("terminated");
  if (terminated == nullptr) return;
  container.terminated = true;
  ReadTerminated(*terminated, container);
}

enum class Kind : std::uint8_t { kOrdinary, kInit, kSidecar };

/// An init container that the kubelet restarts for as long as the pod lives (KEP-753).
Kind KindOfInit(const Json& spec, const std::string& name) {
  const Json* containers = spec.Find("initContainers");
  if (containers == nullptr) return Kind::kInit;
  for (const Json& container : containers->items()) {
    if (kube::TextOrEmpty(container, "name") != name) continue;
    return kube::TextOrEmpty(container, "restartPolicy") == "Always" ? Kind::kSidecar : Kind::kInit;
  }
  return Kind::kInit;
}

bool IsFalse(const Json& object, std::string_view name) {
  const Json* flag = object.Find(name);
  return flag != nullptr && !flag->AsBool().value_or(true);
}

/// A container that is not the training container; kept only where it is in the way.
void ReadOther(const Json& status, Kind kind, PodView& view) {
  PodView::Stuck other{
      .name = kube::TextOrEmpty(status, "name"), .init = kind != Kind::kOrdinary, .container = {}};
  PodView::Container& container = other.container;
  ReadContainer(status, container);
  view.others_remain |= kind == Kind::kOrdinary && !container.terminated;
  view.sidecars_remain |= kind == Kind::kSidecar && !container.terminated;
  view.initializing |= kind == Kind::kInit && container.running;
  if (kind == Kind::kInit && container.finished) {
    view.progressed = std::max(view.progressed.value_or(*container.finished), *container.finished);
  }
  const std::string& reason = container.waiting_reason;
  const bool waits =
      !reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing";
  const bool failed = kind == Kind::kInit && container.exit_code != 0;
  const bool starts = kind == Kind::kSidecar && container.running && IsFalse(status, "started");
  if (!waits && !failed && !starts) return;
  const Json* last = kube::FindPath(status, {"lastState", "terminated"});
  if (waits && last != nullptr) ReadTerminated(*last, container);
  view.stuck.push_back(std::move(other));
}

void ReadStatus(const Json& status, const Json& spec, const std::string& training_container,
                PodView& view) {
  view.phase = kube::TextOrEmpty(status, "phase");
  view.pod_reason = kube::TextOrEmpty(status, "reason");
  view.pod_message = kube::TextOrEmpty(status, "message");
  view.pod_ip = kube::TextOrEmpty(status, "podIP");
  view.started = plan::ParseTimestamp(kube::TextOrEmpty(status, "startTime"));
  ReadConditions(status, view);
  if (const Json* containers = status.Find("initContainerStatuses")) {
    for (const Json& container : containers->items()) {
      ReadOther(container, KindOfInit(spec, kube::TextOrEmpty(container, "name")), view);
    }
  }
  const Json* containers = status.Find("containerStatuses");
  if (containers == nullptr) return;
  for (const Json& container : containers->items()) {
    if (kube::TextOrEmpty(container, "name") == training_container) {
      ReadContainer(container, view.container);
    } else {
      ReadOther(container, Kind::kOrdinary, view);
    }
  }
}

void ReadVolumes(const Json& spec, PodView& view) {
  const Json* volumes = spec.Find("volumes");
  if (volumes == nullptr) return;
  for (const Json& volume : volumes->items()) {
    const std::string name = kube::TextOrEmpty(volume, "name");
    if (name == kJobVolume) view.config_map = kube::TextOrEmpty(volume.Find("configMap"), "name");
    view.identified |= name == kIdentityVolume;
  }
}

/// The claim of a volume, also the one that is made of the volume itself; empty without one.
std::string ClaimOf(const Json& volume, const std::string& pod) {
  if (volume.Find("ephemeral") != nullptr) return pod + "-" + kube::TextOrEmpty(volume, "name");
  return kube::TextOrEmpty(volume.Find("persistentVolumeClaim"), "claimName");
}

/// Of a pod that is not scheduled.
void ReadAwaited(const Json& spec, PodView& view) {
  if (view.unscheduled_reason.empty()) return;
  if (const Json* gates = spec.Find("schedulingGates")) {
    for (const Json& gate : gates->items()) {
      view.awaited.push_back(kube::TextOrEmpty(gate, "name"));
    }
  }
  const Json* volumes = spec.Find("volumes");
  if (!view.awaited.empty() || volumes == nullptr) return;
  for (const Json& volume : volumes->items()) {
    std::string claim = ClaimOf(volume, view.name);
    if (!claim.empty()) view.awaited.push_back(std::move(claim));
  }
}

std::string ControllerUid(const Json& metadata) {
  const Json* owners = metadata.Find("ownerReferences");
  if (owners == nullptr) return {};
  for (const Json& owner : owners->items()) {
    const Json* controller = owner.Find("controller");
    if (controller != nullptr && controller->AsBool().value_or(false)) {
      return kube::TextOrEmpty(owner, "uid");
    }
  }
  return {};
}

}  // namespace

bool PodView::Container::CouldNotStart() const {
  return terminated && (reason == "StartError" || reason == "ContainerCannotRun");
}

Result<PodView> DecodePod(const Json& pod) {
  const Json* metadata = pod.Find("metadata");
  if (metadata == nullptr) return InvalidArgumentError("pod: metadata is missing");
  PodView view;
  view.name = kube::TextOrEmpty(metadata, "name");
  view.name_space = kube::TextOrEmpty(metadata, "namespace");
  view.uid = kube::TextOrEmpty(metadata, "uid");
  if (view.name.empty() || view.uid.empty()) {
    return InvalidArgumentError("pod: metadata.name and metadata.uid must be given");
  }
  view.resource_version = kube::TextOrEmpty(metadata, "resourceVersion");
  view.controller_uid = ControllerUid(*metadata);
  view.created = plan::ParseTimestamp(kube::TextOrEmpty(metadata, "creationTimestamp"));
  view.deleted = plan::ParseTimestamp(kube::TextOrEmpty(metadata, "deletionTimestamp"));
  PSTRAIN_RETURN_IF_ERROR(ReadLabels(*metadata, view));
  view.ps_replicas = kube::TextOrEmpty(metadata->Find("annotations"), kPsReplicasAnnotation);
  const Json none = Json::Object();
  const Json* given = pod.Find("spec");
  const Json& spec = given == nullptr ? none : *given;
  ReadVolumes(spec, view);
  view.node = kube::TextOrEmpty(spec, "nodeName");
  // An annotation that somebody has made name no container: nothing is known of the program.
  const Result<const Json*> training = FindTrainingContainer(pod);
  if (const Json* status = pod.Find("status")) {
    ReadStatus(*status, spec, training.ok() ? kube::TextOrEmpty(*training, "name") : "", view);
    ReadAwaited(spec, view);
  }
  return view;
}

}  // namespace pstrain::job
