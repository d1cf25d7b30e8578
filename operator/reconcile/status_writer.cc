#include "operator/reconcile/status_writer.h"

#include <utility>

#include "operator/reconcile/job_view.h"
#include "operator/reconcile/json_text.h"
#include "operator/reconcile/merge_patch.h"
#include "proto/job_manifest.h"

namespace pstrain::reconcile {
namespace {

void Adopt(const Json& object, JobState& state) {
  state.version = TextOf(object.Find("metadata"), "resourceVersion");
  state.ahead_of_cache = true;
}

/// What somebody else has stored meanwhile.
Status ReadAnew(kube::ApiClient& client, const kube::ObjectKey& key, JobState& state,
                const std::stop_token& stop) {
  const auto object = client.Get(JobResource(), key, stop);
  if (!object.ok()) return object.status();
  if (TextOf(object->Find("metadata"), "uid") != state.uid) {
    return NotFoundError("another job has taken the name " + key.ToString());
  }
  Adopt(*object, state);
  const Result<PSTrainingJob> job = DecodeJob(*object);
  if (job.ok()) state.stored = job->status();
  return OkStatus();
}

}  // namespace

Json EncodeStatus(const JobStatus& status) {
  PSTrainingJob job;
  *job.mutable_status() = status;
  const Json manifest = EncodeJobManifest(job);
  const Json* encoded = manifest.Find("status");
  return encoded == nullptr ? Json::Object() : *encoded;
}

Status WriteStatus(kube::ApiClient& client, const kube::ObjectKey& key, const JobStatus& status,
                   JobState& state, const std::stop_token& stop) {
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
    Adopt(*stored, state);
    return OkStatus();
  }
  if (stored.status().code() == StatusCode::kAborted) {
    PSTRAIN_RETURN_IF_ERROR(ReadAnew(client, key, state, stop));
  }
  return stored.status();
}

}  // namespace pstrain::reconcile
