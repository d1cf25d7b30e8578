#include "operator/job/act/ps_count_writer.h"

#include <string>
#include <utility>

#include "operator/job/build/ps_count.h"
#include "operator/job/build/template_merge.h"
#include "operator/job/observe/pod_termination.h"
#include "operator/kube/json_fields.h"

namespace pstrain::job {
namespace {

/// The annotation as the server has it, as far as we know.
const std::string& KnownCount(const PodView& pod, const JobState& state) {
  const auto told = state.told_ps_counts.find(pod.uid);
  const bool cache_is_behind =
      told != state.told_ps_counts.end() && told->second.version_before == pod.resource_version;
  return cache_is_behind ? told->second.count : pod.ps_replicas;
}

Json PatchOf(const PodView& pod, const JobSpec& spec) {
  Json metadata = Json::Object();
  metadata.Set("uid", Text(pod.uid));
  metadata.Set("annotations", PsCountAnnotation(spec));
  Json patch = Json::Object();
  patch.Set("metadata", std::move(metadata));
  return patch;
}

}  // namespace

Result<bool> WritePsCount(kube::ApiClient& client, const ReconcileContext& context) {
  JobState& state = context.state;
  const JobSpec& spec = context.job.spec();
  std::erase_if(state.told_ps_counts,
                [&](const auto& told) { return !state.pods.by_uid.contains(told.first); });
  const std::string count = PsCountText(spec);
  bool changed = false;
  for (const auto& [uid, known] : state.pods.by_uid) {
    const PodView& pod = *known.view;
    if (!LearnsPsCount(spec, pod.replica.role) || ToReplica(pod).Ended()) continue;
    const std::string& former = KnownCount(pod, state);
    if (former.empty() || former == count) continue;
    const auto patched =
        client.Patch(kube::PodResource(), {.name_space = pod.name_space, .name = pod.name},
                     PatchOf(pod, spec), {}, context.stop);
    const StatusCode code = patched.status().code();
    // Gone, or another has its name: the next attempt is made with the new number.
    if (code == StatusCode::kNotFound || code == StatusCode::kAborted) continue;
    PSTRAIN_RETURN_IF_ERROR(patched.status());
    state.told_ps_counts[uid] = {.count = count, .version_before = pod.resource_version};
    changed = true;
  }
  return changed;
}

}  // namespace pstrain::job
