#include "operator/job/observe/problem.h"

#include <array>
#include <chrono>
#include <string_view>

#include "operator/plan/conditions.h"

namespace pstrain::job {
namespace {

/// The kubelet goes to and fro between ErrImagePull and this one while it tries; one reason for
/// both, or the status would change with each try.
constexpr std::string_view kImagePull = "ImagePullBackOff";

/// A pod that is scheduled and says nothing for so long waits for something that is not there.
constexpr std::chrono::seconds kPatience{60};

struct Advice {
  std::string_view reason;
  std::string_view way_out;
};

constexpr std::array<Advice, 8> kWaiting = {{
    {"ErrImagePull", "name an image that the nodes can pull, or an imagePullSecret"},
    {kImagePull, "name an image that the nodes can pull, or an imagePullSecret"},
    {"ErrImageNeverPull", "load the image on the nodes or change imagePullPolicy"},
    {"InvalidImageName", "correct the image's name"},
    {"CreateContainerConfigError", "create the ConfigMap or Secret that the template names"},
    {"CreateContainerError", "correct the container of the template"},
    {"RunContainerError", "correct the command or the security context of the template"},
    {"StartError", "correct the command or the security context of the template"},
}};

bool Waits(const PodView& pod) {
  return !pod.deleted && (pod.phase == "Pending" || pod.phase.empty());
}

std::string Sentence(const PodView& pod, std::string_view what, std::string_view way_out) {
  std::string text = "pod " + pod.name + ": ";
  text += what;
  if (!way_out.empty()) {
    text += "; ";
    text += way_out;
  }
  return text;
}

std::string WayOutOfUnschedulable(std::string_view message) {
  if (message.find("unbound immediate PersistentVolumeClaims") != std::string_view::npos) {
    return "bind the claim: create a volume for it, or name a storageClassName that exists";
  }
  if (message.find("persistentvolumeclaim") != std::string_view::npos) {
    return "create the PersistentVolumeClaim that the template names";
  }
  return "free or add nodes, or ask for less in the template's resources, nodeSelector, affinity "
         "and tolerations";
}

/// The same failure to pull as the condition has already, in other words.
bool SaidAlready(const Condition* known, const Trouble& trouble) {
  if (known == nullptr || known->status() != "True" || trouble.reason != kImagePull) return false;
  const std::string pod = trouble.message.substr(0, trouble.message.find(": ") + 1);
  return known->reason() == trouble.reason && known->message().starts_with(pod);
}

bool Mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::optional<Trouble> TroubleOf(const PodView& pod, plan::Time now) {
  if (!Waits(pod)) return std::nullopt;
  if (pod.unscheduled_reason == "Unschedulable") {
    return Trouble{.reason = "Unschedulable",
                   .message = Sentence(pod, pod.unscheduled_message,
                                       WayOutOfUnschedulable(pod.unscheduled_message))};
  }
  const PodView::Container& container = pod.container;
  for (const Advice& advice : kWaiting) {
    if (container.waiting_reason != advice.reason) continue;
    const std::string what = container.waiting_message.empty()
                                 ? container.waiting_reason
                                 : container.waiting_reason + ": " + container.waiting_message;
    const bool pull = container.waiting_reason == "ErrImagePull";
    return Trouble{.reason = pull ? std::string(kImagePull) : container.waiting_reason,
                   .message = Sentence(pod, what, advice.way_out)};
  }
  if (pod.node.empty() || !pod.created || now < *pod.created + kPatience) return std::nullopt;
  return Trouble{
      .reason = "PodNotStarted",
      .message = Sentence(
          pod,
          "has not started for " + std::to_string(kPatience.count()) + " s on node " + pod.node,
          "`kubectl describe pod` names what it waits for: a volume, ConfigMap or "
          "Secret that does not exist, or the network")};
}

std::optional<plan::Time> NextLook(const PodView& pod, plan::Time now) {
  if (!Waits(pod) || !pod.created) return std::nullopt;
  const plan::Time due = *pod.created + kPatience;
  if (due <= now) return std::nullopt;
  return due;
}

Trouble TroubleOfCreate(const std::string& object, const std::string& server_message,
                        bool forbidden, bool invalid) {
  const std::string what = object + ": " + server_message;
  if (forbidden && Mentions(server_message, "exceeded quota")) {
    return {"QuotaExceeded", what + "; raise the ResourceQuota or ask for less in the template"};
  }
  if (forbidden && Mentions(server_message, "violates PodSecurity")) {
    return {"PodSecurityViolation",
            what + "; remove from the template what the namespace's level does not admit"};
  }
  if (forbidden && Mentions(server_message, "because it is being terminated")) {
    return {"NamespaceTerminating", what};
  }
  if (forbidden) {
    return {"CreateForbidden",
            what +
                "; grant the operator's service account what the chart's ClusterRole lists, or "
                "change what the admission policy refuses"};
  }
  if (invalid) return {"InvalidTemplate", what + "; correct the role's template"};
  return {"CreateFailed", what};
}

void SetTrouble(std::string_view type, std::string_view without,
                const std::optional<Trouble>& trouble, std::int64_t generation, plan::Time now,
                JobStatus& status) {
  if (!trouble && plan::FindCondition(status, type) == nullptr) return;
  plan::PutCondition({.type = type,
                      .value = trouble.has_value(),
                      .reason = trouble ? std::string_view(trouble->reason) : without,
                      .message = trouble ? std::string_view(trouble->message) : std::string_view(),
                      .generation = generation},
                     now, status);
}

void SetBlocked(const std::optional<Trouble>& trouble, std::int64_t generation, plan::Time now,
                JobStatus& status) {
  std::optional<Trouble> said = trouble;
  const Condition* known = plan::FindCondition(status, "Blocked");
  if (trouble && SaidAlready(known, *trouble)) said->message = known->message();
  SetTrouble("Blocked", "ReplicasStart", said, generation, now, status);
}

}  // namespace pstrain::job
