#include "operator/job/observe/problem.h"

#include <array>
#include <chrono>
#include <string_view>

#include "base/seconds.h"
#include "operator/plan/conditions.h"

namespace pstrain::job {
namespace {

/// The kubelet alternates between ErrImagePull and this one while it tries; one reason for both, or
/// the status would change with each try.
constexpr std::string_view kImagePull = "ImagePullBackOff";

/// A pod that is scheduled and reports nothing for so long waits for something that does not exist.
constexpr std::chrono::seconds kStartTimeout{60};

struct Advice {
  std::string_view reason;
  std::string_view hint;
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

std::string ProblemMessage(const PodView& pod, std::string_view what, std::string_view hint) {
  std::string text = "pod " + pod.name + ": ";
  text += what;
  if (!hint.empty()) {
    text += "; ";
    text += hint;
  }
  return text;
}

std::string HintForUnschedulable(std::string_view message) {
  if (message.find("unbound immediate PersistentVolumeClaims") != std::string_view::npos) {
    return "bind the claim: create a volume for it, or name a storageClassName that exists";
  }
  if (message.find("persistentvolumeclaim") != std::string_view::npos) {
    return "create the PersistentVolumeClaim that the template names";
  }
  return "free or add nodes, or ask for less in the template's resources, nodeSelector, affinity "
         "and tolerations";
}

/// The condition already has this failure to pull, with other words of the kubelet: a change of the
/// message alone would be a write at each try.
bool AlreadyReported(const Condition* known, const Problem& problem) {
  if (known == nullptr || known->status() != "True" || problem.reason != kImagePull) return false;
  const std::string pod = problem.message.substr(0, problem.message.find(": ") + 1);
  return known->reason() == problem.reason && known->message().starts_with(pod);
}

bool Mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::optional<Problem> ProblemOf(const PodView& pod, plan::Time now) {
  if (!Waits(pod)) return std::nullopt;
  if (pod.unscheduled_reason == "Unschedulable") {
    return Problem{.reason = "Unschedulable",
                   .message = ProblemMessage(pod, pod.unscheduled_message,
                                             HintForUnschedulable(pod.unscheduled_message))};
  }
  const PodView::Container& container = pod.container;
  for (const Advice& advice : kWaiting) {
    if (container.waiting_reason != advice.reason) continue;
    const std::string what = container.waiting_message.empty()
                                 ? container.waiting_reason
                                 : container.waiting_reason + ": " + container.waiting_message;
    const bool pull = container.waiting_reason == "ErrImagePull";
    return Problem{.reason = pull ? std::string(kImagePull) : container.waiting_reason,
                   .message = ProblemMessage(pod, what, advice.hint)};
  }
  if (pod.node.empty() || !pod.created || now < *pod.created + kStartTimeout) return std::nullopt;
  return Problem{
      .reason = "PodNotStarted",
      .message = ProblemMessage(
          pod, "has not started for " + WholeSeconds(kStartTimeout) + " on node " + pod.node,
          "`kubectl describe pod` says what it is waiting for: a volume, ConfigMap or "
          "Secret that does not exist, or the network")};
}

std::optional<plan::Time> NextProblemCheck(const PodView& pod, plan::Time now) {
  if (!Waits(pod) || !pod.created) return std::nullopt;
  const plan::Time due = *pod.created + kStartTimeout;
  if (due <= now) return std::nullopt;
  return due;
}

Problem ProblemOfRefusedCreate(const std::string& object, const kube::ApiError& error) {
  const std::string& words = error.Words();
  const std::string what = object + ": " + words;
  const bool forbidden = error.status.code() == StatusCode::kPermissionDenied;
  if (forbidden && Mentions(words, "exceeded quota")) {
    return {"QuotaExceeded", what + "; raise the ResourceQuota or ask for less in the template"};
  }
  if (forbidden && Mentions(words, "violates PodSecurity")) {
    return {"PodSecurityViolation",
            what + "; remove from the template what the namespace's level does not admit"};
  }
  if (forbidden && Mentions(words, "because it is being terminated")) {
    return {"NamespaceTerminating", what};
  }
  if (forbidden) {
    return {"CreateForbidden",
            what +
                "; grant the operator's service account what the chart's ClusterRole lists, or "
                "change what the admission policy refuses"};
  }
  if (error.status.code() == StatusCode::kInvalidArgument) {
    return {"InvalidTemplate", what + "; correct the role's template"};
  }
  return {"CreateFailed", what};
}

void SetProblemCondition(std::string_view type, std::string_view without,
                         const std::optional<Problem>& problem, std::int64_t generation,
                         plan::Time now, JobStatus& status) {
  if (!problem && plan::FindCondition(status, type) == nullptr) return;
  plan::PutCondition({.type = type,
                      .value = problem.has_value(),
                      .reason = problem ? std::string_view(problem->reason) : without,
                      .message = problem ? std::string_view(problem->message) : std::string_view(),
                      .generation = generation},
                     now, status);
}

void SetBlockedCondition(const std::optional<Problem>& problem, std::int64_t generation,
                         plan::Time now, JobStatus& status) {
  std::optional<Problem> said = problem;
  const Condition* known = plan::FindCondition(status, "Blocked");
  if (problem && AlreadyReported(known, *problem)) said->message = known->message();
  SetProblemCondition("Blocked", "ReplicasStart", said, generation, now, status);
}

}  // namespace pstrain::job
