#include "operator/job/build/pod.h"

#include <utility>

#include "operator/job/build/identity_volume.h"
#include "operator/job/build/object_names.h"
#include "operator/job/build/owned_objects.h"
#include "operator/job/build/ps_count.h"
#include "operator/job/build/template_merge.h"
#include "operator/job/build/training_container.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/reserved_names.h"
#include "proto/contract/training_container.h"

namespace pstrain::job {
namespace {

constexpr std::int64_t kDefaultGraceSeconds = 30;
constexpr std::string_view kJobDirectory = "/etc/pstrain";
constexpr std::string_view kScratchDirectory = "/tmp";

/// The template as an object with spec and metadata.
Result<Json> ReadTemplate(const ReplicaSpec& spec) {
  Json pod = Json::Object();
  if (!spec.template_().empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(pod, ParseJson(spec.template_()));
  }
  if (!pod.is_object()) return InvalidArgumentError("template: must be an object");
  for (const std::string_view key : {"metadata", "spec"}) {
    if (!MemberOf(pod, key, Json::Object()).is_object()) {
      return InvalidArgumentError("template." + std::string(key) + ": must be an object");
    }
  }
  return pod;
}

/// Whatever else than an object the template has as annotations, the apiserver refuses.
void Annotate(std::string_view key, std::string_view value, Json& metadata) {
  Json& annotations = MemberOf(metadata, "annotations", Json::Object());
  if (annotations.is_null()) annotations = Json::Object();
  if (annotations.is_object()) annotations.Set(key, Text(value));
}

void SetMetadata(const PSTrainingJob& job, const plan::ReplicaId& id, std::int32_t attempt,
                 Json& pod) {
  Json ours = OwnedObjectMetadata(job, PodName(job.metadata().name(), id, attempt));
  const Json& theirs = *pod.Find("metadata");
  Json labels = Json::Object();
  if (const Json* given = theirs.Find("labels"); given != nullptr && given->is_object()) {
    labels = *given;
  }
  for (const auto& [key, value] : ours.Find("labels")->members()) labels.Set(key, value);
  labels.Set(kReplicaTypeLabel, Text(plan::RoleName(id.role)));
  labels.Set(kReplicaIndexLabel, Text(std::to_string(id.index)));
  labels.Set(kAttemptLabel, Text(std::to_string(attempt)));
  ours.Set("labels", std::move(labels));
  if (const Json* annotations = theirs.Find("annotations")) ours.Set("annotations", *annotations);
  if (LearnsPsCount(job.spec(), id.role)) {
    Annotate(kPsReplicasAnnotation, PsCountText(job.spec()), ours);
  }
  pod.Set("metadata", std::move(ours));
}

Json Volume(std::string_view name, std::string_view kind, Json source) {
  Json volume = Json::Object();
  volume.Set("name", Text(name));
  volume.Set(kind, std::move(source));
  return volume;
}

Json Mount(std::string_view name, std::string_view path, bool read_only) {
  Json mount = Json::Object();
  mount.Set("name", Text(name));
  mount.Set("mountPath", Text(path));
  if (read_only) mount.Set("readOnly", Json::Bool(true));
  return mount;
}

bool Mounts(const Json& mounts, std::string_view path) {
  for (const Json& mount : mounts.items()) {
    if (kube::TextOrEmpty(mount, "mountPath") == path) return true;
  }
  return false;
}

struct Volumes {
  std::string config_map;
  /// Null: none.
  Json identity = Json();
  Json tls = Json();
  bool scratch = false;
  bool ps_count = false;
};

Status AddVolumes(const Volumes& wanted, const std::string& path, Json& spec, Json& container) {
  Json& volumes = MemberOf(spec, "volumes", Json::Array());
  Json& mounts = MemberOf(container, "volumeMounts", Json::Array());
  if (!volumes.is_array() || !mounts.is_array()) {
    return InvalidArgumentError("template.spec: volumes and volumeMounts must be lists");
  }
  for (const std::string_view ours :
       {kJobDirectory, kPsCountDirectory, kIdentityDirectory, kTlsDirectory}) {
    if (!Mounts(mounts, ours)) continue;
    return InvalidArgumentError(path + ".volumeMounts: " + std::string(ours) +
                                " is where pstrain mounts the job; choose another path");
  }
  Json source = Json::Object();
  source.Set("name", Text(wanted.config_map));
  volumes.Append(Volume(kJobVolume, "configMap", std::move(source)));
  mounts.Append(Mount(kJobVolume, kJobDirectory, true));
  if (wanted.ps_count) {
    volumes.Append(Volume(kPsCountVolume, "downwardAPI", PsCountVolume()));
    mounts.Append(Mount(kPsCountVolume, kPsCountDirectory, true));
  }
  if (!wanted.identity.is_null()) {
    volumes.Append(Volume(kIdentityVolume, "projected", wanted.identity));
    mounts.Append(Mount(kIdentityVolume, kIdentityDirectory, true));
  }
  if (!wanted.tls.is_null()) {
    volumes.Append(Volume(kTlsVolume, "secret", wanted.tls));
    mounts.Append(Mount(kTlsVolume, kTlsDirectory, true));
  }
  if (wanted.scratch && !Mounts(mounts, kScratchDirectory)) {
    volumes.Append(Volume(kScratchVolume, "emptyDir", Json::Object()));
    mounts.Append(Mount(kScratchVolume, kScratchDirectory, false));
  }
  return OkStatus();
}

/// Restricted Pod Security, where the template says nothing else.
Status SetPodSecurity(Json& spec) {
  Json& context = MemberOf(spec, "securityContext", Json::Object());
  if (!context.is_object()) {
    return InvalidArgumentError("template.spec.securityContext: must be an object");
  }
  SetDefault(context, "runAsNonRoot", Json::Bool(true));
  Json seccomp = Json::Object();
  seccomp.Set("type", Text("RuntimeDefault"));
  SetDefault(context, "seccompProfile", std::move(seccomp));
  return OkStatus();
}

struct FoundContainer {
  Json* container = nullptr;
  std::string path;  // in the template
};

/// The training container of a pod, made an empty one where the template has no container.
Result<FoundContainer> TrainingContainerOf(Json& pod) {
  Json& containers = MemberOf(*pod.FindMutable("spec"), "containers", Json::Array());
  if (!containers.is_array()) {
    return InvalidArgumentError("template.spec.containers: must be a list");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t index, TrainingContainerIndex(pod));
  if (containers.size() == 0) containers.Append(Json::Object());
  Json* container = &containers.mutable_items()[index];
  std::string path = "template.spec.containers[" + std::to_string(index) + "]";
  if (!container->is_object()) return InvalidArgumentError(path + ": must be an object");
  return FoundContainer{.container = container, .path = std::move(path)};
}

/// terminationGracePeriodSeconds of a pod's spec; 30 s, Kubernetes' default, without one.
std::chrono::seconds GracePeriod(const Json& spec) {
  const Json* grace = spec.Find("terminationGracePeriodSeconds");
  return std::chrono::seconds(grace == nullptr ? kDefaultGraceSeconds
                                               : grace->AsInt64().value_or(kDefaultGraceSeconds));
}

}  // namespace

Result<Json> BuildPod(const PSTrainingJob& job, const plan::ReplicaId& id, std::int32_t attempt,
                      const JobConfig& config, const PodBuilderOptions& options) {
  const ReplicaSpec* replica = plan::FindReplicaSpec(job.spec(), id.role);
  if (replica == nullptr) return InternalError("no specification for " + plan::ReplicaKey(id));
  const std::string path = "spec.replicaSpecs." + std::string(plan::RoleName(id.role));
  Result<Json> pod = ReadTemplate(*replica);
  if (!pod.ok()) return pod.status().WithContext(path);
  SetMetadata(job, id, attempt, *pod);
  pod->Set("apiVersion", Text("v1"));
  pod->Set("kind", Text("Pod"));
  Json& spec = *pod->FindMutable("spec");
  spec.Set("restartPolicy", Text("Never"));
  spec.Set("hostname", Text(PodName(job.metadata().name(), id, 0)));  // the same for every attempt
  spec.Set("subdomain", Text(job.metadata().name()));
  SetDefault(spec, "enableServiceLinks", Json::Bool(false));
  SetDefault(spec, "automountServiceAccountToken", Json::Bool(false));
  const Result<FoundContainer> found = TrainingContainerOf(*pod);
  if (!found.ok()) return found.status().WithContext(path);
  Json& container = *found->container;
  const bool identified = options.identified && UsesRuntime(job.spec());
  const TrainingContainer training{.job = &job,
                                   .id = id,
                                   .path = found->path,
                                   .attempt = attempt,
                                   .config_map = config.name,
                                   .sparse_tf_config = config.sparse_tf_config,
                                   .grace = GracePeriod(spec),
                                   .identified = identified,
                                   .image = options.training_image,
                                   .image_pull_policy = options.image_pull_policy};
  for (const Status& status : {SetPodSecurity(spec), CompleteContainer(training, container),
                               AddVolumes({.config_map = config.name,
                                           .identity = identified ? IdentityVolume(job) : Json(),
                                           .tls = TlsVolume(job.spec()),
                                           .scratch = UsesRuntime(job.spec()),
                                           .ps_count = LearnsPsCount(job.spec(), id.role)},
                                          found->path, spec, container)}) {
    if (!status.ok()) return status.WithContext(path);
  }
  const std::string name = kube::TextOrEmpty(container, "name");
  Json& metadata = *pod->FindMutable("metadata");
  Annotate(kTrainingContainerAnnotation, name, metadata);
  if (kube::TextOrEmpty(metadata.Find("annotations"), kDefaultContainerAnnotation).empty()) {
    Annotate(kDefaultContainerAnnotation, name, metadata);
  }
  return pod;
}

}  // namespace pstrain::job
