#include "operator/job/observe/replicas.h"

#include <utility>

#include "operator/job/observe/pod_termination.h"

namespace pstrain::job {
namespace {

/// Adds the replica as it is after our own deletions; one of which nothing runs is as good as gone
/// when we have deleted it.
void AddPod(const PodView& pod, const KnownPods& pods, std::set<std::string>& still_stopped,
            std::vector<plan::Replica>& replicas) {
  plan::Replica replica = ToReplica(pod);
  if (!pod.deleted && pods.stopped.contains(pod.uid)) {
    still_stopped.insert(pod.uid);
    if (replica.Gone()) return;
    replica.terminating = true;
    replica.ready = false;
    if (replica.rest == plan::Rest::kRuns) replica.rest = plan::Rest::kStops;
  }
  replicas.push_back(std::move(replica));
}

}  // namespace

std::vector<plan::Replica> CollectReplicas(const std::vector<PodStore::Object>& cached,
                                           const std::vector<UncountedPod>& gone, plan::Time now,
                                           KnownPods& pods) {
  std::set<std::string> shown;
  for (const PodStore::Object& pod : cached) {
    if (!pod->object.ok()) continue;
    // Shares the ownership of the cache's object.
    std::shared_ptr<const PodView> view(pod, &*pod->object);
    shown.insert(view->uid);
    const std::string uid = view->uid;
    pods.by_uid[uid] = {.view = std::move(view), .unseen_since = std::nullopt};
  }
  for (const UncountedPod& pod : gone) pods.by_uid.erase(pod.uid);
  std::erase_if(pods.forced, [&](const std::string& uid) { return !pods.by_uid.contains(uid); });
  std::vector<plan::Replica> replicas;
  std::set<std::string> still_stopped;
  for (auto& [uid, pod] : pods.by_uid) {
    if (!shown.contains(uid) && !pod.unseen_since) pod.unseen_since = now;
    if (!pods.forced.contains(uid)) AddPod(*pod.view, pods, still_stopped, replicas);
  }
  pods.stopped = std::move(still_stopped);
  for (const UncountedPod& pod : gone) replicas.push_back(pod.replica);
  return replicas;
}

}  // namespace pstrain::job
