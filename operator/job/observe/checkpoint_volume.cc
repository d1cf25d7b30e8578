#include "operator/job/observe/checkpoint_volume.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "operator/kube/json_fields.h"
#include "operator/plan/snapshot.h"
#include "proto/job/schema.h"

namespace pstrain::job {
namespace {

constexpr std::string_view kField = "training.checkpoint.directory";
constexpr std::string_view kReadWriteMany = "ReadWriteMany";
constexpr std::string_view kWayOut =
    "mount the same ReadWriteMany PersistentVolumeClaim there in every role's template";

/// What a pod of one role has there.
struct Place {
  plan::Role role = plan::Role::kChief;
  std::string volume = {};  // name in the template; empty: no volume
  std::string kind = {};    // member of the volume: emptyDir, persistentVolumeClaim ...
  std::string claim = {};   // of a persistentVolumeClaim
  std::string source = {};  // equal for what is the same volume
  std::string inside = {};  // path of the directory in it
  std::string node = {};    // where all pods of the role run, if the template says so
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
void FindMount(const Json& container, const std::string& directory, Place& place) {
  const Json* mounts = container.Find("volumeMounts");
  if (mounts == nullptr) return;
  std::size_t longest = 0;
  for (const Json& mount : mounts->items()) {
    const std::string path = WithoutSlashAtEnd(kube::TextOrEmpty(mount, "mountPath"));
    const auto rest = path.empty() ? std::nullopt : Below(directory, path);
    if (!rest || path.size() < longest) continue;
    longest = path.size();
    place.volume = kube::TextOrEmpty(mount, "name");
    place.inside = WithoutSlashAtEnd(kube::TextOrEmpty(mount, "subPath") +
                                     kube::TextOrEmpty(mount, "subPathExpr") + *rest);
  }
}

void FindSource(const Json& spec, Place& place) {
  const Json* volumes = spec.Find("volumes");
  if (volumes == nullptr) return;
  for (const Json& volume : volumes->items()) {
    if (kube::TextOrEmpty(volume, "name") != place.volume) continue;
    for (const auto& [member, value] : volume.members()) {
      if (member == "name") continue;
      place.kind = member;
      place.claim = kube::TextOrEmpty(value, "claimName");
      // Who mounts a claim read-only sees the same.
      place.source = member + " " + (place.claim.empty() ? WriteJson(value) : place.claim);
    }
  }
}

std::string NodeOf(const Json& spec) {
  const std::string name = kube::TextOrEmpty(spec, "nodeName");
  return name.empty() ? kube::TextOrEmpty(spec.Find("nodeSelector"), "kubernetes.io/hostname")
                      : name;
}

/// Nothing when the template cannot be read.
std::optional<Place> PlaceOf(const PSTrainingJob& job, plan::Role role) {
  Place place{.role = role};
  const std::string& text = plan::FindReplicaSpec(job.spec(), role)->template_();
  const Result<Json> pod = ParseJson(text.empty() ? std::string_view("{}") : text);
  if (!pod.ok()) return std::nullopt;
  const Json* spec = pod->Find("spec");
  if (spec == nullptr) return place;
  place.node = NodeOf(*spec);
  const Json* containers = spec->Find("containers");
  if (containers == nullptr || containers->items().empty()) return place;
  FindMount(containers->items().front(),
            WithoutSlashAtEnd(job.spec().training().checkpoint().directory()), place);
  if (!place.volume.empty()) FindSource(*spec, place);
  return place;
}

Trouble Say(std::string_view reason, const PSTrainingJob& job, const Place& place,
            const std::string& what, std::string_view way_out = kWayOut) {
  std::string message = "role " + std::string(plan::RoleName(place.role)) + ": ";
  message += std::string(kField) + " " + job.spec().training().checkpoint().directory() + " " +
             what + "; ";
  message += way_out;
  return {.reason = std::string(reason), .message = std::move(message)};
}

bool IsOneOf(std::string_view kind, const auto& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::optional<Trouble> TroubleOfPlace(const PSTrainingJob& job, const Place& place) {
  constexpr std::array<std::string_view, 2> kOfEachPod = {"emptyDir", "ephemeral"};
  constexpr std::array<std::string_view, 5> kReadOnly = {"configMap", "secret", "downwardAPI",
                                                         "projected", "image"};
  const std::string volume = "is on volume " + place.volume + " (" + place.kind + "), ";
  if (place.volume.empty()) return Say("NoCheckpointVolume", job, place, "is on no volume");
  if (IsOneOf(place.kind, kOfEachPod)) {
    return Say("CheckpointVolumePerPod", job, place, volume + "which each pod has for itself");
  }
  if (IsOneOf(place.kind, kReadOnly)) {
    return Say("CheckpointVolumeReadOnly", job, place, volume + "which cannot be written to");
  }
  return std::nullopt;
}

std::string Describe(const Place& place) {
  const std::string what =
      place.claim.empty() ? "volume " + place.volume : "PersistentVolumeClaim " + place.claim;
  return place.inside.empty() ? what : what + " at " + place.inside;
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
  if (!job.spec().has_training()) return {};
  std::vector<Place> places;
  for (const plan::Role role : plan::kRoles) {
    if (plan::DesiredReplicas(job.spec(), role) == 0) continue;
    auto place = PlaceOf(job, role);
    if (!place) return {};
    if (auto trouble = TroubleOfPlace(job, *place)) return {.trouble = std::move(trouble)};
    places.push_back(std::move(*place));
  }
  if (places.empty()) return {};
  const Place& first = places.front();
  for (const Place& place : places) {
    if (place.source == first.source && place.inside == first.inside) continue;
    return {.trouble =
                Say("CheckpointVolumesDiffer", job, place,
                    "is on " + Describe(place) + ", but that of role " +
                        std::string(plan::RoleName(first.role)) + " is on " + Describe(first))};
  }
  const bool one_node =
      !first.node.empty() && std::all_of(places.begin(), places.end(),
                                         [&first](const Place& p) { return p.node == first.node; });
  return {.claim = one_node ? std::string() : first.claim};
}

std::optional<Trouble> TroubleOfClaim(const Json& claim) {
  // A bound claim has the modes of its volume, which may be more than it asks for.
  std::string modes = ModesOf(claim.Find("status"));
  if (modes.empty()) modes = ModesOf(claim.Find("spec"));
  if (modes.find(kReadWriteMany) != std::string::npos) return std::nullopt;
  const std::string name = kube::TextOrEmpty(claim.Find("metadata"), "name");
  const std::string_view harm = modes.find("ReadWriteOncePod") != std::string::npos
                                    ? "one pod alone can mount it"
                                    : "replicas on several nodes cannot all write to it";
  std::string message = "PersistentVolumeClaim " + name + ", mounted over " + std::string(kField) +
                        ", is " + (modes.empty() ? "of no access mode" : modes) + ": ";
  message += harm;
  message +=
      "; use a claim with access mode ReadWriteMany, or keep all replicas on one node "
      "(nodeSelector kubernetes.io/hostname in every role's template)";
  return Trouble{.reason = "ClaimNotReadWriteMany", .message = std::move(message)};
}

}  // namespace pstrain::job
