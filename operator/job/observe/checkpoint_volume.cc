#include "operator/job/observe/checkpoint_volume.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/snapshot.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/training_container.h"
#include "proto/job/schema.h"

namespace pstrain::job {
namespace {

constexpr std::string_view kDirectory = "directory";
constexpr std::string_view kReadWriteMany = "ReadWriteMany";
constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
constexpr std::string_view kHint =
    "mount the same ReadWriteMany PersistentVolumeClaim there in every role's template";

/// What a pod of one role has there.
struct RoleVolume {
  plan::Role role = plan::Role::kChief;
  std::string volume = {};  // name in the template; empty: no volume
  std::string kind = {};    // member of the volume: emptyDir, persistentVolumeClaim ...
  std::string claim = {};   // of a persistentVolumeClaim
  std::string source = {};  // equal for what is the same volume
  std::string inside = {};  // path of the directory in it
  std::string node = {};    // where all pods of the role run, if the template says one place
};

std::string WithoutSlashAtEnd(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// The rest of `directory` below `mount`, with its slash; nothing when it is not there.
std::optional<std::string> Below(const std::string& directory, const std::string& mount) {
  if (mount == "/") return directory;
  if (!directory.starts_with(mount)) return std::nullopt;
  std::string rest = directory.substr(mount.size());
  if (!rest.empty() && rest.front() != '/') return std::nullopt;
  return rest;
}

/// The mount that the directory is in: the longest of those above it.
void FindMount(const Json& container, const std::string& directory, RoleVolume& role_volume) {
  const Json* mounts = container.Find("volumeMounts");
  if (mounts == nullptr) return;
  std::size_t longest = 0;
  for (const Json& mount : mounts->items()) {
    const std::string path = WithoutSlashAtEnd(kube::TextOrEmpty(mount, "mountPath"));
    const auto rest = path.empty() ? std::nullopt : Below(directory, path);
    if (!rest || path.size() < longest) continue;
    longest = path.size();
    role_volume.volume = kube::TextOrEmpty(mount, "name");
    role_volume.inside = WithoutSlashAtEnd(kube::TextOrEmpty(mount, "subPath") +
                                           kube::TextOrEmpty(mount, "subPathExpr") + *rest);
  }
}

void FindSource(const Json& spec, RoleVolume& role_volume) {
  const Json* volumes = spec.Find("volumes");
  if (volumes == nullptr) return;
  for (const Json& volume : volumes->items()) {
    if (kube::TextOrEmpty(volume, "name") != role_volume.volume) continue;
    for (const auto& [member, value] : volume.members()) {
      if (member == "name") continue;
      role_volume.kind = member;
      role_volume.claim = kube::TextOrEmpty(value, "claimName");
      // Who mounts a claim read-only sees the same.
      role_volume.source =
          member + " " + (role_volume.claim.empty() ? WriteJson(value) : role_volume.claim);
    }
  }
}

/// A term of podAffinity by which a pod runs on a node that has a pod of the job, whatever else.
/// One that selects other pods too might find them on another node.
bool JoinsJob(const Json& term, const std::string& job_name) {
  if (kube::TextOrEmpty(term, "topologyKey") != kHostnameLabel) return false;
  if (term.Find("namespaces") != nullptr || term.Find("namespaceSelector") != nullptr) return false;
  const Json* selector = term.Find("labelSelector");
  if (selector == nullptr || selector->Find("matchExpressions") != nullptr) return false;
  const Json* labels = selector->Find("matchLabels");
  return labels != nullptr && labels->size() == 1 &&
         kube::TextOrEmpty(*labels, kJobNameLabel) == job_name;
}

bool RunsWithJob(const Json& spec, const std::string& job_name) {
  const Json* part = &spec;
  for (const char* field :
       {"affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"}) {
    if (part != nullptr) part = part->Find(field);
  }
  if (part == nullptr) return false;
  return std::any_of(part->items().begin(), part->items().end(),
                     [&job_name](const Json& term) { return JoinsJob(term, job_name); });
}

std::string NodeOf(const Json& spec, const std::string& job_name) {
  std::string name = kube::TextOrEmpty(spec, "nodeName");
  if (name.empty()) name = kube::TextOrEmpty(spec.Find("nodeSelector"), kHostnameLabel);
  if (name.empty() && RunsWithJob(spec, job_name)) name = "that of the job's other pods";
  return name;
}

/// Nothing when the template cannot be read.
std::optional<RoleVolume> RoleVolumeOf(const PSTrainingJob& job, plan::Role role) {
  RoleVolume role_volume{.role = role};
  const std::string& text = plan::FindReplicaSpec(job.spec(), role)->template_();
  const Result<Json> pod = ParseJson(text.empty() ? std::string_view("{}") : text);
  if (!pod.ok()) return std::nullopt;
  const Json* spec = pod->Find("spec");
  if (spec == nullptr) return role_volume;
  role_volume.node = NodeOf(*spec, job.metadata().name());
  const Result<const Json*> container = FindTrainingContainer(*pod);
  if (!container.ok()) return std::nullopt;
  if (*container == nullptr) return role_volume;
  FindMount(**container, WithoutSlashAtEnd(CheckpointOf(job.spec()).directory()), role_volume);
  if (!role_volume.volume.empty()) FindSource(*spec, role_volume);
  return role_volume;
}

Problem MakeProblem(std::string_view reason, const PSTrainingJob& job,
                    const RoleVolume& role_volume, const std::string& what,
                    std::string_view hint = kHint) {
  std::string message = "role " + std::string(plan::RoleName(role_volume.role)) + ": ";
  message += CheckpointField(job.spec(), kDirectory) + " " + CheckpointOf(job.spec()).directory() +
             " " + what + "; ";
  message += hint;
  return {.reason = std::string(reason), .message = std::move(message)};
}

bool IsOneOf(std::string_view kind, const auto& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::optional<Problem> ProblemOfVolume(const PSTrainingJob& job, const RoleVolume& role_volume) {
  constexpr std::array<std::string_view, 2> kOfEachPod = {"emptyDir", "ephemeral"};
  constexpr std::array<std::string_view, 5> kReadOnly = {"configMap", "secret", "downwardAPI",
                                                         "projected", "image"};
  const std::string volume = "is on volume " + role_volume.volume + " (" + role_volume.kind + "), ";
  if (role_volume.volume.empty())
    return MakeProblem("NoCheckpointVolume", job, role_volume, "is not on a volume");
  if (IsOneOf(role_volume.kind, kOfEachPod)) {
    return MakeProblem("CheckpointVolumePerPod", job, role_volume,
                       volume + "which is separate for each pod");
  }
  if (IsOneOf(role_volume.kind, kReadOnly)) {
    return MakeProblem("CheckpointVolumeReadOnly", job, role_volume, volume + "which is read-only");
  }
  return std::nullopt;
}

std::string Describe(const RoleVolume& role_volume) {
  const std::string what = role_volume.claim.empty() ? "volume " + role_volume.volume
                                                     : "PersistentVolumeClaim " + role_volume.claim;
  return role_volume.inside.empty() ? what : what + " at " + role_volume.inside;
}

std::string ModesOf(const Json* part) {
  const Json* modes = part == nullptr ? nullptr : part->Find("accessModes");
  if (modes == nullptr) return {};
  std::vector<std::string> names;
  for (const Json& mode : modes->items()) {
    if (mode.AsString() != nullptr) names.push_back(*mode.AsString());
  }
  return JoinNames(names, " and ");
}

}  // namespace

CheckpointVolume FindCheckpointVolume(const PSTrainingJob& job) {
  if (!UsesRuntime(job.spec())) return {};
  std::vector<RoleVolume> role_volumes;
  for (const plan::Role role : plan::kRoles) {
    if (plan::DesiredReplicas(job.spec(), role) == 0) continue;
    auto role_volume = RoleVolumeOf(job, role);
    if (!role_volume) return {};
    if (auto problem = ProblemOfVolume(job, *role_volume)) return {.problem = std::move(problem)};
    role_volumes.push_back(std::move(*role_volume));
  }
  if (role_volumes.empty()) return {};
  const RoleVolume& first = role_volumes.front();
  for (const RoleVolume& role_volume : role_volumes) {
    if (role_volume.source == first.source && role_volume.inside == first.inside) continue;
    return {.problem = MakeProblem("CheckpointVolumesDiffer", job, role_volume,
                                   "is on " + Describe(role_volume) + ", but that of role " +
                                       std::string(plan::RoleName(first.role)) + " is on " +
                                       Describe(first))};
  }
  const bool one_node = !first.node.empty() &&
                        std::all_of(role_volumes.begin(), role_volumes.end(),
                                    [&first](const RoleVolume& p) { return p.node == first.node; });
  return {.claim = one_node ? std::string() : first.claim};
}

std::optional<Problem> ProblemOfClaim(const Json& claim) {
  // A bound claim has the modes of its volume, which may be more than it asks for.
  std::string modes = ModesOf(claim.Find("status"));
  if (modes.empty()) modes = ModesOf(claim.Find("spec"));
  if (modes.find(kReadWriteMany) != std::string::npos) return std::nullopt;
  const std::string name = kube::TextOrEmpty(claim.Find("metadata"), "name");
  const std::string_view harm = modes.find("ReadWriteOncePod") != std::string::npos
                                    ? "only one pod can mount it"
                                    : "replicas on several nodes cannot all write to it";
  std::string message = "PersistentVolumeClaim " + name +
                        ", mounted over the checkpoint directory, " +
                        (modes.empty() ? "has no access mode" : "is " + modes) + ": ";
  message += harm;
  message +=
      "; use a claim with access mode ReadWriteMany, or keep all replicas on one node (in every "
      "role's template nodeSelector kubernetes.io/hostname, or podAffinity to the pods of the job)";
  return Problem{.reason = "ClaimNotReadWriteMany", .message = std::move(message)};
}

}  // namespace pstrain::job
