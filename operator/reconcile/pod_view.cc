#include "operator/reconcile/pod_view.h"

#include <charconv>
#include <string_view>

#include "operator/plan/timestamp.h"
#include "operator/reconcile/json_text.h"
#include "operator/reconcile/names.h"
#include "operator/reconcile/pod_builder.h"

namespace pstrain::reconcile {
namespace {

std::optional<std::int32_t> ParseNumber(const std::string& text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Status ReadLabels(const Json& metadata, PodView& view) {
  const Json* labels = metadata.Find("labels");
  view.job_name = TextOf(labels, kJobNameLabel);
  const auto role = plan::RoleFromName(TextOf(labels, kReplicaTypeLabel));
  const auto index = ParseNumber(TextOf(labels, kReplicaIndexLabel));
  const auto attempt = ParseNumber(TextOf(labels, kAttemptLabel));
  if (view.job_name.empty() || !role || !index || !attempt) {
    return InvalidArgumentError("pod " + view.name +
                                ": metadata.labels: " + std::string(kJobNameLabel) +
                                ", replica-type, replica-index and "
                                "attempt must be as the operator writes them");
  }
  view.place = {*role, *index};
  view.attempt = *attempt;
  return OkStatus();
}

void ReadConditions(const Json& status, PodView& view) {
  const Json* conditions = status.Find("conditions");
  if (conditions == nullptr) return;
  for (const Json& condition : conditions->items()) {
    const std::string type = TextOf(&condition, "type");
    const bool is_true = TextOf(&condition, "status") == "True";
    if (type == "Ready") view.ready = is_true;
    if (type == "DisruptionTarget" && is_true) {
      view.disruption_reason = TextOf(&condition, "reason");
    }
    if (type == "PodScheduled" && !is_true) {
      view.unscheduled_reason = TextOf(&condition, "reason");
      view.unscheduled_message = TextOf(&condition, "message");
    }
  }
}

void ReadContainer(const Json& status, PodView::Container& container) {
  container.known = true;
  const Json* state = status.Find("state");
  if (state == nullptr) return;
  if (const Json* waiting = state->Find("waiting")) {
    container.waiting_reason = TextOf(waiting, "reason");
    container.waiting_message = TextOf(waiting, "message");
  }
  container.running = state->Find("running") != nullptr;
  const Json* terminated = state->Find("terminated");
  if (terminated == nullptr) return;
  container.terminated = true;
  container.exit_code = static_cast<std::int32_t>(IntegerOf(terminated, "exitCode"));
  container.signal = static_cast<std::int32_t>(IntegerOf(terminated, "signal"));
  container.reason = TextOf(terminated, "reason");
  container.message = TextOf(terminated, "message");
  container.finished = plan::ParseTimestamp(TextOf(terminated, "finishedAt"));
}

void ReadStatus(const Json& status, const std::string& training_container, PodView& view) {
  view.phase = TextOf(&status, "phase");
  view.pod_reason = TextOf(&status, "reason");
  view.pod_message = TextOf(&status, "message");
  view.pod_ip = TextOf(&status, "podIP");
  view.started = plan::ParseTimestamp(TextOf(&status, "startTime"));
  ReadConditions(status, view);
  const Json* containers = status.Find("containerStatuses");
  if (containers == nullptr) return;
  for (const Json& container : containers->items()) {
    if (TextOf(&container, "name") == training_container) {
      ReadContainer(container, view.container);
    }
  }
}

/// The ConfigMap behind our volume.
std::string ConfigMapOf(const Json& spec) {
  const Json* volumes = spec.Find("volumes");
  if (volumes == nullptr) return {};
  for (const Json& volume : volumes->items()) {
    if (TextOf(&volume, "name") == kJobVolume) return TextOf(volume.Find("configMap"), "name");
  }
  return {};
}

std::string ControllerUid(const Json& metadata) {
  const Json* owners = metadata.Find("ownerReferences");
  if (owners == nullptr) return {};
  for (const Json& owner : owners->items()) {
    const Json* controller = owner.Find("controller");
    if (controller != nullptr && controller->AsBool().value_or(false)) return TextOf(&owner, "uid");
  }
  return {};
}

}  // namespace

Result<PodView> DecodePod(const Json& pod) {
  const Json* metadata = pod.Find("metadata");
  if (metadata == nullptr) return InvalidArgumentError("pod: metadata is missing");
  PodView view;
  view.name = TextOf(metadata, "name");
  view.name_space = TextOf(metadata, "namespace");
  view.uid = TextOf(metadata, "uid");
  if (view.name.empty() || view.uid.empty()) {
    return InvalidArgumentError("pod: metadata.name and metadata.uid must be given");
  }
  view.resource_version = TextOf(metadata, "resourceVersion");
  view.controller_uid = ControllerUid(*metadata);
  view.created = plan::ParseTimestamp(TextOf(metadata, "creationTimestamp"));
  view.deleted = plan::ParseTimestamp(TextOf(metadata, "deletionTimestamp"));
  PSTRAIN_RETURN_IF_ERROR(ReadLabels(*metadata, view));
  std::string training_container;
  if (const Json* spec = pod.Find("spec")) {
    view.config_map = ConfigMapOf(*spec);
    view.node = TextOf(spec, "nodeName");
    const Json* containers = spec->Find("containers");
    if (containers != nullptr && containers->size() > 0) {
      training_container = TextOf(&containers->items().front(), "name");
    }
  }
  if (const Json* status = pod.Find("status")) ReadStatus(*status, training_container, view);
  return view;
}

}  // namespace pstrain::reconcile
