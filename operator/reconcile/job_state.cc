#include "operator/reconcile/job_state.h"

#include "operator/reconcile/pod_ending.h"

namespace pstrain::reconcile {

namespace {

/// Adds the replica as it is after our own deletions; an ended one that we deleted is as good as
/// gone.
void AddPod(const PodView& pod, const JobState& state, std::set<std::string>& still_stopped,
            std::vector<plan::Replica>& replicas) {
  plan::Replica replica = ToReplica(pod);
  if (!replica.terminating && state.stopped.contains(pod.uid)) {
    still_stopped.insert(pod.uid);
    if (replica.Ended()) return;
    replica.terminating = true;
    replica.ready = false;
  }
  replicas.push_back(std::move(replica));
}

}  // namespace

std::vector<plan::Replica> CollectReplicas(const std::vector<PodStore::Object>& cached,
                                           const Observations& observations, JobState& state) {
  std::vector<plan::Replica> replicas;
  std::set<std::string> still_stopped;
  for (const PodStore::Object& pod : cached) {
    if (!pod->object.ok()) continue;
    state.created.erase(pod->object->uid);
    AddPod(*pod->object, state, still_stopped, replicas);
  }
  std::erase_if(state.created,
                [&](const auto& entry) { return observations.IsGone(state.uid, entry.first); });
  for (const auto& [uid, pod] : state.created) AddPod(pod, state, still_stopped, replicas);
  state.stopped = std::move(still_stopped);
  for (plan::Replica& replica : observations.Gone(state.uid)) {
    replicas.push_back(std::move(replica));
  }
  return replicas;
}

}  // namespace pstrain::reconcile
