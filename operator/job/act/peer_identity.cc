#include "operator/job/act/peer_identity.h"

#include <utility>

#include "operator/job/build/identity_volume.h"
#include "operator/job/observe/pod_termination.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/conditions.h"
#include "proto/contract/replica_specs.h"

namespace pstrain::job {
namespace {

/// Of the pods that have not ended, by our own memory too; nothing when there is none.
std::optional<bool> LivePodsAreIdentified(const JobState& state) {
  for (const auto& [uid, pod] : state.pods.by_uid) {
    if (!ToReplica(*pod.view).Ended()) return pod.view->identified;
  }
  return std::nullopt;
}

std::string LabelOf(const Json& object, std::string_view name) {
  return kube::TextOrEmpty(kube::FindPath(object, {"metadata", "labels"}), name);
}

bool IsOurs(const kube::ObjectMeta& meta) {
  const auto label = meta.labels.find(std::string(kManagedByLabel));
  return label != meta.labels.end() && label->second == kManagedBy;
}

Problem NameTaken() {
  return {.reason = "IssuerKeysNameTaken",
          .message = "ConfigMap " + std::string(kIssuerKeysConfigMap) +
                     " exists and does not belong to the operator, which keeps there the keys by "
                     "which replicas check each other; delete it"};
}

Problem StartedWithoutTokens() {
  return {.reason = "StartedWithoutTokens",
          .message =
              "replicas do not check who calls them: those that run were made without "
              "tokens; suspend the job, wait for the condition Suspended, then resume it"};
}

}  // namespace

bool PeerIdentity::IsPublished(const kube::ObjectKey& key, const std::string& hash,
                               plan::Time now) {
  const OwnedObjectStore::Object cached = config_maps_.Get(key);
  const MutexLock lock(mutex_);
  if (cached && !cached->meta.deleting()) {
    const auto label = cached->meta.labels.find(std::string(kIssuerKeysHashLabel));
    if (label != cached->meta.labels.end() && label->second == hash) {
      written_.erase(key.name_space);
      return true;
    }
  }
  const auto written = written_.find(key.name_space);
  return written != written_.end() && written->second.hash == hash &&
         now < written->second.at + kUnseenLimit;
}

Status PeerIdentity::Create(const ReconcileContext& context, const kube::ObjectKey& key,
                            const Json& keys, const std::string& hash) {
  const kube::Resource& resource = kube::ConfigMapResource();
  const auto created = client_.Create(resource, key.name_space, keys, context.stop);
  if (!created.ok() && created.error().status.code() == StatusCode::kAlreadyExists) {
    const auto found = client_.Get(resource, key, context.stop);
    if (!found.ok()) return found.status();
    if (LabelOf(*found, kManagedByLabel) != kManagedBy) {
      context.state.refused = NameTaken();
      return OkStatus();
    }
    // Another reconcile was faster, or the cache is behind.
    if (LabelOf(*found, kIssuerKeysHashLabel) != hash) {
      return AbortedError("ConfigMap " + key.ToString() + " has just been written by another");
    }
  } else if (!created.ok()) {
    const kube::ApiError& error = created.error();
    if (error.MayPass()) return error.status;
    context.state.refused = ProblemOfRefusedCreate("ConfigMap " + key.name, error);
    return OkStatus();
  }
  const MutexLock lock(mutex_);
  written_[key.name_space] = {.hash = hash, .at = context.now};
  return OkStatus();
}

Status PeerIdentity::Publish(const ReconcileContext& context, const IssuerKeys& keys) {
  const kube::ObjectKey key{.name_space = context.job.metadata().namespace_(),
                            .name = std::string(kIssuerKeysConfigMap)};
  const Json config_map = BuildIssuerKeys(key.name_space, keys.issuer, keys.jwks);
  const std::string hash = LabelOf(config_map, kIssuerKeysHashLabel);
  if (IsPublished(key, hash, context.now)) return OkStatus();
  const OwnedObjectStore::Object old = config_maps_.Get(key);
  if (old && IsOurs(old->meta)) {
    // Deleted and made again instead of changed: the operator has no right to change ConfigMaps.
    // Running pods keep the files that they have until the kubelet sees the new one.
    const auto deleted =
        client_.Delete(kube::ConfigMapResource(), key, {.uid = old->meta.uid}, context.stop);
    const StatusCode code = deleted.status().code();
    if (!deleted.ok() && code != StatusCode::kNotFound && code != StatusCode::kAborted) {
      return deleted.status();
    }
  }
  return Create(context, key, config_map, hash);
}

Result<bool> PeerIdentity::Prepare(const ReconcileContext& context) {
  if (!UsesRuntime(context.job.spec())) return false;
  const Result<IssuerKeyReader::Reading> reading = reader_.Read(context.now, context.stop);
  const std::optional<bool> live = LivePodsAreIdentified(context.state);
  if (live == false && !required_) return false;
  if (!reading.ok()) return reading.status();
  if (live == false) {
    // From before it was required.
    context.state.refused = StartedWithoutTokens();
    return false;
  }
  if (reading->keys) {
    PSTRAIN_RETURN_IF_ERROR(Publish(context, *reading->keys));
    return true;
  }
  // They have them from before: from an operator that could read the keys.
  if (live == true) return true;
  if (required_) context.state.refused = reading->problem;
  return false;
}

std::optional<Problem> PeerIdentity::ProblemOf(const ReconcileContext& context) const {
  if (!UsesRuntime(context.job.spec())) return std::nullopt;
  const std::optional<bool> live = LivePodsAreIdentified(context.state);
  if (live == true) return std::nullopt;
  const std::optional<IssuerKeyReader::Reading> last = reader_.Last();
  if (last && last->problem) return last->problem;
  if (!live) return std::nullopt;
  return StartedWithoutTokens();
}

std::optional<Problem> PeerIdentity::StaleKeysOf(const ReconcileContext& context) const {
  if (LivePodsAreIdentified(context.state) != true) return std::nullopt;
  const std::optional<IssuerKeyReader::Reading> last = reader_.Last();
  return last ? last->stale : std::nullopt;
}

std::optional<plan::Time> PeerIdentity::NextCheck(const ReconcileContext& context) const {
  const bool live = LivePodsAreIdentified(context.state).has_value();
  if (!UsesRuntime(context.job.spec()) || !live) return std::nullopt;
  return reader_.NextRead();
}

}  // namespace pstrain::job
