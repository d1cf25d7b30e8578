#include "operator/job/observe/problem.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string_view>

#include "base/seconds.h"
#include "operator/plan/conditions.h"

namespace pstrain::job {
namespace {

/// The kubelet alternates between ErrImagePull and this one while it tries; one reason for both, or
/// the status would change with each try.
constexpr std::string_view kImagePull = "ImagePullBackOff";

constexpr std::string_view kConfigError = "CreateContainerConfigError";
constexpr std::string_view kCorrectCommand =
    "correct the command or the security context of the template";

/// A pod that is scheduled and reports nothing for so long waits for something that does not exist.
constexpr std::chrono::seconds kStartTimeout{60};

struct Advice {
  std::string_view reason;
  std::string_view hint;
};

constexpr std::array<Advice, 7> kWaiting = {{
    {"ErrImagePull", "name an image that the nodes can pull, or an imagePullSecret"},
    {kImagePull, "name an image that the nodes can pull, or an imagePullSecret"},
    {"ErrImageNeverPull", "load the image on the nodes or change imagePullPolicy"},
    {"InvalidImageName", "correct the image's name"},
    {kConfigError, "correct what it names in the container of the template"},
    {"CreateContainerError", "correct the container of the template"},
    {"RunContainerError", kCorrectCommand},
}};

/// What the kubelet says of a container's configuration -> what to do about it; the first that
/// fits. Source: kubernetes' pkg/kubelet/kuberuntime/security_context.go and
/// pkg/kubelet/kubelet_pods.go.
constexpr std::array<Advice, 4> kConfigErrors = {{
    {"runAsNonRoot",
     "the image runs as root: set securityContext.runAsUser of the template to the number of "
     "another user, use an image that names such a number, or set runAsNonRoot: false where the "
     "namespace admits it"},
    {"couldn't find key", "add that key to the ConfigMap or Secret that the template names"},
    {"configmap \"", "create the ConfigMap or Secret that the template names"},
    {"secret \"", "create the ConfigMap or Secret that the template names"},
}};

bool Mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

constexpr std::string_view kStartError = "StartError";

/// The container runtime could not start the program: nothing of it ran.
bool CouldNotStart(const PodView::Container& container) {
  return container.terminated &&
         (container.reason == kStartError || container.reason == "ContainerCannotRun");
}

bool ProgramRan(const PodView& pod) {
  return pod.container.running || (pod.container.terminated && !CouldNotStart(pod.container));
}

bool Waits(const PodView& pod) {
  return !pod.deleted && !ProgramRan(pod) && (pod.phase == "Pending" || pod.phase.empty());
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

std::optional<Problem> ProblemOfScheduling(const PodView& pod) {
  const std::string& reason = pod.unscheduled_reason;
  std::string hint;
  if (reason == "Unschedulable") {
    hint = HintForUnschedulable(pod.unscheduled_message);
  } else if (reason == "SchedulingGated") {
    hint =
        "whoever set the gates removes them: a queue such as Kueue when there is room; without "
        "one, "
        "remove schedulingGates from the template";
  } else if (reason == "SchedulerError") {
    hint = "the scheduler tries again by itself; its log says more";
  } else {
    return std::nullopt;
  }
  return Problem{.reason = reason, .message = ProblemMessage(pod, pod.unscheduled_message, hint)};
}

std::string_view HintOf(const Advice& advice, std::string_view message) {
  if (advice.reason != kConfigError) return advice.hint;
  for (const Advice& error : kConfigErrors) {
    if (Mentions(message, error.reason)) return error.hint;
  }
  return advice.hint;
}

/// "reason", or "reason: message"; of an init container or sidecar with its name before it.
std::string DescribeState(const std::string& name, const std::string& reason,
                          const std::string& message) {
  std::string text = name.empty() ? reason : "container " + name + ": " + reason;
  return message.empty() ? text : text + ": " + message;
}

/// Of a container that waits; `name` is empty for the training container.
std::optional<Problem> ProblemOfWaiting(const PodView& pod, const std::string& name,
                                        const PodView::Container& container) {
  for (const Advice& advice : kWaiting) {
    if (container.waiting_reason != advice.reason) continue;
    const bool pull = container.waiting_reason == "ErrImagePull";
    return Problem{
        .reason = pull ? std::string(kImagePull) : container.waiting_reason,
        .message = ProblemMessage(
            pod, DescribeState(name, container.waiting_reason, container.waiting_message),
            HintOf(advice, container.waiting_message))};
  }
  return std::nullopt;
}

/// Of an init container that ended with an error: with restartPolicy Never the pod has failed.
std::optional<Problem> ProblemOfInit(const PodView& pod) {
  for (const PodView::Stuck& stuck : pod.stuck) {
    if (!stuck.init || !stuck.container.terminated) continue;
    const std::string what = "init container " + stuck.name + " exited with code " +
                             std::to_string(stuck.container.exit_code);
    const std::string hint = "`kubectl logs " + pod.name + " -c " + stuck.name +
                             "` says why; correct it in the template's initContainers";
    return Problem{
        .reason = "InitContainerFailed",
        .message = ProblemMessage(pod, DescribeState("", what, stuck.container.message), hint)};
  }
  return std::nullopt;
}

std::optional<Problem> ProblemOfStart(const PodView& pod) {
  const std::string_view hint = StartHintOf(pod);
  if (hint.empty()) return std::nullopt;
  const PodView::Container& container = pod.container;
  return Problem{
      .reason = std::string(kStartError),
      .message = ProblemMessage(pod, DescribeState("", container.reason, container.message), hint)};
}

/// The field of a pod that an apiserver has refused: what it names as the cause, or as unknown.
std::string FieldOf(const kube::ApiError& error) {
  for (const kube::ApiCause& cause : error.causes) {
    if (!cause.field.empty()) return cause.field;
  }
  for (const std::string_view before : {"unknown field \"", "duplicate field \""}) {
    const std::size_t at = error.message.find(before);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + before.size();
    const std::size_t end = error.message.find('"', begin);
    if (end != std::string::npos) return error.message.substr(begin, end - begin);
  }
  return {};
}

}  // namespace

std::string_view StartHintOf(const PodView& pod) {
  if (!CouldNotStart(pod.container)) return {};
  return Mentions(pod.container.message, "pstrain-agent")
             ? "the image needs pstrain-agent in its PATH"
             : kCorrectCommand;
}

std::optional<Problem> FirstProblemOf(const std::vector<PodStore::Object>& pods, plan::Time now) {
  std::map<plan::ReplicaId, std::int32_t> newest_that_ran;
  for (const PodStore::Object& pod : pods) {
    if (!pod->object.ok() || !ProgramRan(*pod->object)) continue;
    std::int32_t& newest = newest_that_ran[pod->object->replica];
    newest = std::max(newest, pod->object->attempt);
  }
  for (const PodStore::Object& pod : pods) {
    if (!pod->object.ok()) continue;
    const auto ran = newest_that_ran.find(pod->object->replica);
    if (ran != newest_that_ran.end() && pod->object->attempt <= ran->second) continue;
    if (auto problem = ProblemOf(*pod->object, now)) return problem;
  }
  return std::nullopt;
}

std::optional<Problem> ProblemOf(const PodView& pod, plan::Time now) {
  if (pod.phase == "Failed" && !pod.deleted && !ProgramRan(pod)) {
    const auto init = ProblemOfInit(pod);
    return init ? init : ProblemOfStart(pod);
  }
  if (!Waits(pod)) return std::nullopt;
  if (auto problem = ProblemOfScheduling(pod)) return problem;
  if (auto problem = ProblemOfWaiting(pod, "", pod.container)) return problem;
  for (const PodView::Stuck& stuck : pod.stuck) {
    if (auto problem = ProblemOfWaiting(pod, stuck.name, stuck.container)) return problem;
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
  return {"CreateFailed", what};
}

Problem ProblemOfRefusedPod(plan::Role role, const std::string& pod, const kube::ApiError& error) {
  if (error.status.code() != StatusCode::kInvalidArgument) {
    return ProblemOfRefusedCreate(kube::PodResource().kind + " " + pod, error);
  }
  std::string field = "spec.replicaSpecs." + std::string(plan::RoleName(role)) + ".template";
  if (const std::string inside = FieldOf(error); !inside.empty()) field += "." + inside;
  return {kInvalidTemplate, field + ": " + error.Words() + "; correct the template"};
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
