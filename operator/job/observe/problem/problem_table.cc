#include "operator/job/observe/problem/problem_table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pstrain::job {
namespace {

using enum ProblemSource;

/// The kubelet alternates between these two while it tries.
constexpr std::string_view kPull = "ErrImagePull|ImagePullBackOff";
constexpr std::string_view kPullReason = "ImagePullBackOff";
constexpr std::string_view kConfigError = "CreateContainerConfigError";
constexpr std::string_view kCannotStart = "StartError|ContainerCannotRun";
constexpr std::string_view kCorrectCommand =
    "correct the command or the security context of the template";
constexpr std::string_view kNeedsAgent = "the image needs pstrain-agent in its PATH";
constexpr std::string_view kInitFailed = "InitContainerFailed";

/// Sources of the words: kubernetes' pkg/scheduler/framework/plugins/volumebinding, pkg/kubelet
/// (images/types.go, kuberuntime/kuberuntime_container.go, kuberuntime/security_context.go,
/// kubelet_pods.go, lifecycle/predicate.go, eviction/helpers.go), containerd and runc.
constexpr auto kTable = std::to_array<ProblemRow>({
    // The scheduler.
    {kScheduler, "SchedulingGated", "kueue.x-k8s.io/", "",
     "The pod waits for its turn in a queue of Kueue.",
     "Kueue removes the gate when its queue has room; `kubectl get workloads` says where the job "
     "stands"},
    {kScheduler, "SchedulingGated", "", "", "The pod has scheduling gates.",
     "whoever set the gates removes them: a queue such as Kueue when there is room; without one, "
     "remove schedulingGates from the template"},
    {kScheduler, "Unschedulable", "unbound immediate PersistentVolumeClaims", "",
     "A claim of the pod has no volume.",
     "bind the claim: create a volume for it, or name a storageClassName that exists; `kubectl "
     "describe pvc CLAIMS` says what its provisioner says"},
    {kScheduler, "Unschedulable", "find available persistent volumes to bind", "",
     "A claim waits for its pod, and no node has a volume for it or can have one made.",
     "create a volume for CLAIMS where the pod can run, or name a storageClassName whose "
     "provisioner makes one"},
    {kScheduler, "Unschedulable", "storageclass.storage.k8s.io", "",
     "A claim names a storage class that does not exist.",
     "name a storageClassName that exists in CLAIMS, or create it"},
    {kScheduler, "Unschedulable", "not have enough free storage", "",
     "No node can make a volume of that size.", "ask for less in CLAIMS, or add storage"},
    {kScheduler, "Unschedulable",
     "volume node affinity conflict|match PersistentVolume's node affinity", "",
     "A volume of the pod is in a zone or on a node where the pod cannot run.",
     "let the pod run where the volume of CLAIMS is: change nodeSelector and affinity of the "
     "template, free that node, or use a volume that all nodes reach"},
    {kScheduler, "Unschedulable", "exceed max volume count", "",
     "No node can attach another volume.", "add nodes, or use fewer volumes"},
    {kScheduler, "Unschedulable", "ReadWriteOncePod", "",
     "Another pod uses a claim that one pod at a time may use.",
     "use a claim with another access mode for CLAIMS"},
    {kScheduler, "Unschedulable", "is being deleted", "", "A claim of the pod is being deleted.",
     "create the claim again once it is gone, or name another one"},
    {kScheduler, "Unschedulable", "bound to non-existent persistentvolume", "",
     "The volume of a claim was deleted.", "delete and create the claim, or restore its volume"},
    {kScheduler, "Unschedulable", "persistentvolumeclaim", "", "A claim does not exist.",
     "create the PersistentVolumeClaim that the template names"},
    {kScheduler, "Unschedulable", "free ports for the requested pod ports", "",
     "The hostPort of the template is taken on every node.", "remove hostPort from the template"},
    {kScheduler, "Unschedulable", "", "", "No node fits.",
     "free or add nodes, or ask for less in the template's resources, nodeSelector, affinity and "
     "tolerations"},
    {kScheduler, "SchedulerError", "provisioning failed for PVC", "ProvisioningFailed",
     "The provisioner of a claim's storage class refuses to make the volume.",
     "`kubectl describe pvc CLAIMS` has the provisioner's words; correct what they name: the "
     "storage class, the size, the access mode or a quota"},
    {kScheduler, "SchedulerError", "binding volumes", "", "A volume was not made or bound in time.",
     "`kubectl describe pvc CLAIMS` says what it waits for; the scheduler tries again by itself"},
    {kScheduler, "SchedulerError", "", "", "The scheduler failed at the pod.",
     "the scheduler tries again by itself; its log says more"},
    // The kubelet, before a container is made.
    {kWaiting, kPull, "unauthorized|authorization failed|access denied|403 Forbidden", kPullReason,
     "The registry does not let the nodes have the image.",
     "name an image that the nodes can pull, or an imagePullSecret that its registry accepts"},
    {kWaiting, kPull, "no match for platform|no matching manifest", kPullReason,
     "The image is not built for the architecture of the node.",
     "build the image for that architecture, or choose other nodes: nodeSelector "
     "kubernetes.io/arch"},
    {kWaiting, kPull, "not found|manifest unknown", kPullReason, "The registry has no such image.",
     "correct the image's name or tag, or name an image that the nodes can pull"},
    {kWaiting, kPull, "toomanyrequests|429 Too Many", kPullReason,
     "The registry limits how often images are pulled.",
     "wait, name an imagePullSecret whose limit is higher, or an image of another registry"},
    {kWaiting, kPull, "x509|certificate", kPullReason,
     "The nodes do not trust the registry's certificate.",
     "make the nodes' container runtime trust it, or name an image that the nodes can pull"},
    {kWaiting, kPull, "no such host|dial tcp|i/o timeout|connection refused", kPullReason,
     "The nodes do not reach the registry.",
     "name an image that the nodes can pull: they do not reach its registry"},
    {kWaiting, kPull, "no space left", kPullReason, "The node has no room for the image.",
     "free the node's disk"},
    {kWaiting, kPull, "", kPullReason, "The image cannot be pulled.",
     "name an image that the nodes can pull, or an imagePullSecret"},
    {kWaiting, "RegistryUnavailable", "", "", "The nodes do not reach the registry.",
     "name an image that the nodes can pull: they do not reach its registry"},
    {kWaiting, "SignatureValidationFailed", "", "", "The image's signature is not accepted.",
     "sign the image as the nodes' policy asks, or name one that is signed"},
    {kWaiting, "ImageInspectError", "", "", "The image on the node is damaged.",
     "remove the image from the node, so that it is pulled again"},
    {kWaiting, "ErrImageNeverPull", "", "",
     "The node does not have the image, and imagePullPolicy is Never.",
     "load the image on the nodes or change imagePullPolicy"},
    {kWaiting, "InvalidImageName", "", "", "The image's name cannot be read.",
     "correct the image's name"},
    {kWaiting, kConfigError, "breaks non-root policy", "",
     "The template asks for user 0 and for runAsNonRoot.",
     "set securityContext.runAsUser of the template to another number than 0, or set "
     "runAsNonRoot: false where the namespace admits it"},
    {kWaiting, kConfigError, "non-numeric user", "",
     "The image names its user by a name, so that nobody knows whether it is root.",
     "set securityContext.runAsUser of the template to the number of that user"},
    {kWaiting, kConfigError, "runAsNonRoot", "",
     "The image runs as root, and runAsNonRoot, which pstrain sets, forbids that.",
     "the image runs as root: set securityContext.runAsUser of the template to the number of "
     "another user, use an image that names such a number, or set runAsNonRoot: false where the "
     "namespace admits it"},
    {kWaiting, kConfigError, " in ConfigMap ", "", "A ConfigMap lacks a key.",
     "add that key to the ConfigMap, or correct the key in the template"},
    {kWaiting, kConfigError, " in Secret ", "", "A Secret lacks a key.",
     "add that key to the Secret, or correct the key in the template"},
    {kWaiting, kConfigError, "configmap \"", "", "A ConfigMap does not exist.",
     "create the ConfigMap that the template names"},
    {kWaiting, kConfigError, "secret \"", "", "A Secret does not exist.",
     "create the Secret that the template names"},
    {kWaiting, kConfigError, "subPath|subpath", "", "A subPath cannot be mounted.",
     "correct subPath in volumeMounts of the template, or create it in the volume"},
    {kWaiting, kConfigError, "", "", "The container's configuration cannot be made.",
     "correct what it names in the container of the template"},
    {kWaiting, "CreateContainerError|RunContainerError", "pstrain-agent", "",
     "The image has no pstrain-agent.", kNeedsAgent},
    {kWaiting, "CreateContainerError", "no command specified", "",
     "Neither the image nor the template has a command.", "name a command in the template"},
    {kWaiting, "CreateContainerError", "", "", "The container runtime cannot make the container.",
     "correct the container of the template"},
    {kWaiting, "RunContainerError", "", "", "The container runtime cannot start the program.",
     kCorrectCommand},
    {kWaiting, "PreCreateHookError|PreStartHookError|PostStartHookError", "", "",
     "A hook of the container fails.", "correct lifecycle of the container in the template"},
    {kWaiting, "CrashLoopBackOff", "", "", "A sidecar ends again and again.",
     "`kubectl logs POD -c CONTAINER --previous` says why; correct it in the template's "
     "initContainers"},
    // Containers that have ended.
    {kStart, kCannotStart, "permission denied", "StartError",
     "The user of the container may not execute the program.",
     "make the program executable for that user in the image, or change runAsUser of the template"},
    {kStart, kCannotStart, "pstrain-agent", "StartError", "The image has no pstrain-agent.",
     kNeedsAgent},
    {kStart, kCannotStart, "OOM-killed|memory limit too low", "StartError",
     "The memory limit is too low to start anything.", "raise the memory limit of the template"},
    {kStart, kCannotStart, "error mounting", "StartError",
     "A volume cannot be mounted where the template says.",
     "correct mountPath and subPath in volumeMounts of the template"},
    {kStart, kCannotStart, "", "StartError", "The container runtime cannot start the program.",
     kCorrectCommand},
    {kInit, "OOMKilled", "", kInitFailed, "An init container has used up its memory limit.",
     "raise the memory limit of CONTAINER in the template's initContainers"},
    {kInit, kCannotStart, "", kInitFailed, "The program of an init container cannot be started.",
     "correct the command or the image of CONTAINER in the template's initContainers"},
    {kInit, "Unknown|ContainerStatusUnknown", "", "",
     "The node was reset while an init container ran.", "it is tried again"},
    {kInit, "", "", kInitFailed, "An init container failed.",
     "`kubectl logs POD -c CONTAINER` says why; correct it in the template's initContainers"},
    // Pods that the kubelet has failed before their program ran.
    {kRefused, "OutOf*", "", "", "The node has no room for the pod.",
     "remove nodeName from the template, so that the scheduler chooses a node, or ask for less; it "
     "is tried again"},
    {kRefused, "NodeAffinity|NodeName|NodePorts|PodOS*", "", "", "The pod cannot run on that node.",
     "remove nodeName from the template, or choose a node that fits; it is tried again"},
    {kRefused, "TaintToleration", "", "", "The node has a taint NoExecute.",
     "remove nodeName from the template, or tolerate the taint; it is tried again"},
    {kRefused, "Evicted", "", "", "The node is short of memory, disk or pids.",
     "it is tried again; free the node or use others if this goes on"},
    {kRefused, "UnexpectedAdmissionError", "", "",
     "The node cannot give the pod a device or another resource.",
     "it is tried again; look at the device plugin and the kubelet of that node if this goes on"},
    {kRefused, "TopologyAffinityError", "", "",
     "The node cannot give the pod its resources in one NUMA node.",
     "ask for less, or use nodes with another topology policy; it is tried again"},
    {kRefused, "SysctlForbidden", "", "", "The node does not admit a sysctl of the template.",
     "remove it from securityContext.sysctls of the template"},
    {kRefused, "AppArmor", "", "", "The node does not have the AppArmor profile.",
     "name a profile that the nodes have"},
    {kRefused, "NodeShutdown|Terminated|Shutdown|Preempting", "", "",
     "The node shuts down, or makes room for a critical pod.",
     "it is tried again, on another node; nothing else is to be done"},
    {kRefused, "DeadlineExceeded", "", "",
     "activeDeadlineSeconds of the template was over before the program ran.",
     "raise or remove activeDeadlineSeconds of the template; spec.runPolicy.activeDeadlineSeconds "
     "is that of the job"},
    {kRefused, "", "", "", "The kubelet does not take the pod.",
     "it is tried again; the message says what the node lacks"},
    // Nothing is said: the operator's own words.
    {kSilence, kSandboxReady, "", "PodNotStarted",
     "The pod has its network and volumes, and no container runs a minute later.",
     "its image is still being pulled, or the container is being made: `kubectl describe pod POD` "
     "says which"},
    {kSilence, kSidecarStarts, "", "PodNotStarted",
     "A sidecar runs, and its startup probe has not succeeded.",
     "`kubectl logs POD -c CONTAINER` says what it does; correct it or its startupProbe in the "
     "template's initContainers"},
    {kSilence, "", "", "PodNotStarted",
     "The pod has a node, and nothing of it runs a minute later.",
     "`kubectl describe pod POD` says what it is waiting for: a volume, ConfigMap or Secret that "
     "does not exist, or the network"},
    // Objects that the apiserver does not make.
    {kCreate, kForbidden, "exceeded quota", "QuotaExceeded", "A ResourceQuota is used up.",
     "raise the ResourceQuota or ask for less in the template"},
    {kCreate, kForbidden, "violates PodSecurity", "PodSecurityViolation",
     "The namespace does not admit such pods.",
     "remove from the template what the namespace's level does not admit"},
    {kCreate, kForbidden, "because it is being terminated", "NamespaceTerminating",
     "The namespace is being deleted, and the job with it.", ""},
    {kCreate, kForbidden, "", "CreateForbidden",
     "The operator may not make the object, or an admission policy refuses it.",
     "grant the operator's service account what the chart's ClusterRole lists, or change what the "
     "admission policy refuses"},
    {kCreate, "", "failed calling webhook", "CreateFailed",
     "A webhook that has to admit the object does not answer.",
     "repair or remove the webhook that it names; it is tried again"},
    {kCreate, "", "", "CreateFailed", "The apiserver cannot make the object.",
     "it is tried again; the message says what is wrong"},
});

/// Calls `fits` with each part of a list until one does.
template <typename Fits>
bool AnyOf(std::string_view list, Fits fits) {
  while (true) {
    const std::size_t end = list.find('|');
    if (fits(list.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + 1);
  }
}

bool IsSaid(std::string_view reasons, std::string_view said) {
  return reasons.empty() || AnyOf(reasons, [said](std::string_view reason) {
           return reason.ends_with('*') ? said.starts_with(reason.substr(0, reason.size() - 1))
                                        : said == reason;
         });
}

void Replace(std::string_view from, std::string_view to, std::string& text) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string_view NameOf(ProblemSource source) {
  switch (source) {
    case kScheduler:
      return "the scheduler";
    case kWaiting:
      return "a container waits";
    case kStart:
      return "a container did not start";
    case kInit:
      return "an init container ended";
    case kRefused:
      return "the kubelet failed the pod";
    case kSilence:
      return "nobody";
    case kCreate:
      return "the apiserver";
  }
  return "";
}

/// A cell with code of each part of a list.
std::string Code(std::string_view list) {
  std::string cell;
  AnyOf(list, [&cell](std::string_view part) {
    if (part.empty()) return false;
    if (!cell.empty()) cell += ", ";
    cell.append("`").append(part).append("`");
    return false;
  });
  return cell;
}

}  // namespace

std::span<const ProblemRow> ProblemTable() { return kTable; }

const ProblemRow* FindProblemRow(ProblemSource source, std::string_view said,
                                 std::string_view message) {
  const auto* const row = std::ranges::find_if(kTable, [&](const ProblemRow& candidate) {
    if (candidate.source != source || !IsSaid(candidate.said, said)) return false;
    return candidate.words.empty() || AnyOf(candidate.words, [message](std::string_view part) {
             return message.find(part) != std::string_view::npos;
           });
  });
  return row == kTable.end() ? nullptr : row;
}

std::string WayOut(const ProblemRow& row, const ProblemNames& names) {
  std::string text(row.way_out);
  Replace("POD", names.pod, text);
  Replace("CONTAINER", names.container, text);
  Replace("CLAIMS", names.claims, text);
  return text;
}

std::string WriteProblemTable() {
  std::string table =
      "| reason | who says it | as | with the words | what is the matter | what to do |\n"
      "|---|---|---|---|---|---|\n";
  for (const ProblemRow& row : kTable) {
    const bool own = row.reason.empty() &&
                     (row.said.empty() || row.said.find_first_of("*|") != std::string_view::npos);
    table += "| " + (own ? "as said" : Code(row.reason.empty() ? row.said : row.reason)) + " | ";
    table.append(NameOf(row.source)).append(" | ");
    table += (row.source == kSilence || row.source == kCreate ? "" : Code(row.said)) + " | " +
             Code(row.words) + " | ";
    table.append(row.meaning).append(" | ").append(row.way_out).append(" |\n");
  }
  return table;
}

}  // namespace pstrain::job
