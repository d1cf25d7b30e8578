#include "operator/job/act/status_writer.h"

#include <google/protobuf/util/message_differencer.h>

#include <utility>

#include "operator/job/act/merge_patch.h"
#include "operator/job/observe/job_view.h"
#include "operator/kube/json_fields.h"
#include "proto/job/job_manifest.h"

namespace pstrain::job {
namespace {

void TakeMetadata(const Json& object, JobState& state) {
  const Json* metadata = object.Find("metadata");
  state.superseded_versions.insert(state.version);
  state.version = kube::TextOrEmpty(metadata, "resourceVersion");
  state.superseded_versions.erase(state.version);
  state.deleting = !kube::TextOrEmpty(metadata, "deletionTimestamp").empty();
}

/// Another job has the name, or none: ours needs nothing more.
bool IsGone(const Status& status) { return status.code() == StatusCode::kNotFound; }

}  // namespace

Status RefreshState(kube::ApiClient& client, const kube::ObjectKey& key, JobState& state,
                    const std::stop_token& stop) {
  const auto object = client.Get(JobResource(), key, stop);
  const bool gone = object.ok() ? kube::TextOrEmpty(object->Find("metadata"), "uid") != state.uid
                                : IsGone(object.status());
  if (gone) {
    state.deleting = true;
    return OkStatus();
  }
  if (!object.ok()) return object.status();
  TakeMetadata(*object, state);
  state.stored = DecodeJobStatus(*object);
  state.stored_known = true;
  return OkStatus();
}

Json EncodeStatus(const JobStatus& status) {
  PSTrainingJob job;
  *job.mutable_status() = status;
  const Json manifest = EncodeJobManifest(job);
  const Json* encoded = manifest.Find("status");
  return encoded == nullptr ? Json::Object() : *encoded;
}

Status WriteStatus(kube::ApiClient& client, const kube::ObjectKey& key, const JobStatus& status,
                   JobState& state, const std::stop_token& stop) {
  if (google::protobuf::util::MessageDifferencer::Equals(state.stored, status)) return OkStatus();
  auto difference = MakeMergePatch(EncodeStatus(state.stored), EncodeStatus(status));
  if (!difference) return OkStatus();
  Json metadata = Json::Object();
  metadata.Set("uid", Json::String(state.uid));
  metadata.Set("resourceVersion", Json::String(state.version));
  Json patch = Json::Object();
  patch.Set("metadata", std::move(metadata));
  patch.Set("status", std::move(*difference));
  const auto stored = client.Patch(
      JobResource(), key, patch, {.kind = kube::PatchKind::kMerge, .subresource = "status"}, stop);
  if (stored.ok()) {
    state.stored = status;
    state.stored_known = true;
    TakeMetadata(*stored, state);
    return OkStatus();
  }
  if (IsGone(stored.status())) {
    state.deleting = true;
    return OkStatus();
  }
  if (stored.status().code() == StatusCode::kAborted) {
    PSTRAIN_RETURN_IF_ERROR(RefreshState(client, key, state, stop));
    if (state.deleting) return OkStatus();
  }
  return stored.status();
}

}  // namespace pstrain::job
