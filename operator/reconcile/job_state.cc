#include "operator/reconcile/job_state.h"

#include <utility>

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
                                           const std::vector<GonePod>& gone, plan::Time now,
                                           JobState& state) {
  std::set<std::string> shown;
  for (const PodStore::Object& pod : cached) {
    if (!pod->object.ok()) continue;
    // Shares the ownership of the cache's object.
    std::shared_ptr<const PodView> view(pod, &*pod->object);
    shown.insert(view->uid);
    const std::string uid = view->uid;
    state.pods[uid] = {.view = std::move(view), .unseen_since = std::nullopt};
  }
  for (const GonePod& pod : gone) state.pods.erase(pod.uid);
  std::vector<plan::Replica> replicas;
  std::set<std::string> still_stopped;
  for (auto& [uid, pod] : state.pods) {
    if (!shown.contains(uid) && !pod.unseen_since) pod.unseen_since = now;
    AddPod(*pod.view, state, still_stopped, replicas);
  }
  state.stopped = std::move(still_stopped);
  for (const GonePod& pod : gone) replicas.push_back(pod.replica);
  return replicas;
}

}  // namespace pstrain::reconcile
