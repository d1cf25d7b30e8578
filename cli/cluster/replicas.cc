#include "cli/cluster/replicas.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text/parse_number.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/training_container.h"

namespace pstrain::cluster {
namespace {

using kube::FindPath;
using kube::TextOrEmpty;

std::int64_t NumberOf(const Json* labels, std::string_view label) {
  return ParseNumber<std::int64_t>(TextOrEmpty(labels, label)).value_or(0);
}

/// The training container has ended, whatever else runs in the pod.
bool TrainingEnded(const Json& pod) {
  const Result<const Json*> container = FindTrainingContainer(pod);
  const Json* statuses = FindPath(pod, {"status", "containerStatuses"});
  if (!container.ok() || *container == nullptr || statuses == nullptr) return false;
  const std::string name = TextOrEmpty(*container, "name");
  return std::ranges::any_of(statuses->items(), [&name](const Json& status) {
    return TextOrEmpty(status, "name") == name &&
           FindPath(status, {"state", "terminated"}) != nullptr;
  });
}

}  // namespace

std::string NameOf(const Json& object) {
  return TextOrEmpty(FindPath(object, {"metadata"}), "name");
}

std::string ReplicaPod::PodName() const { return NameOf(*pod); }

std::vector<ReplicaPod> ReplicaPods(const std::vector<Json>& pods) {
  std::vector<ReplicaPod> found;
  for (const Json& pod : pods) {
    const Json* labels = FindPath(pod, {"metadata", "labels"});
    std::string role = TextOrEmpty(labels, job::kReplicaTypeLabel);
    if (role.empty()) continue;
    found.push_back({.role = std::move(role),
                     .index = NumberOf(labels, job::kReplicaIndexLabel),
                     .attempt = NumberOf(labels, job::kAttemptLabel),
                     .pod = &pod});
  }
  std::ranges::sort(found, {}, [](const ReplicaPod& pod) {
    return std::tuple(pod.role, pod.index, pod.attempt);
  });
  return found;
}

std::vector<ReplicaPod> NewestPods(const std::vector<Json>& pods) {
  std::vector<ReplicaPod> newest;
  for (ReplicaPod& pod : ReplicaPods(pods)) {
    if (!newest.empty() && newest.back().role == pod.role && newest.back().index == pod.index) {
      newest.pop_back();
    }
    newest.push_back(std::move(pod));
  }
  return newest;
}

std::string ReplicaNames(const std::vector<ReplicaPod>& pods) {
  std::string names;
  std::string last;
  for (const ReplicaPod& pod : pods) {
    if (pod.Replica() == last) continue;
    last = pod.Replica();
    names += (names.empty() ? "" : ", ") + last;
  }
  return names;
}

std::vector<RecordedReplica> RecordedReplicas(const Json& job) {
  std::vector<RecordedReplica> found;
  const Json* records = FindPath(job, {"status", "restarts", "replicas"});
  if (records == nullptr) return found;
  for (const auto& [name, record] : records->members()) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos) continue;
    const auto index = ParseNumber<std::int64_t>(std::string_view(name).substr(dash + 1));
    if (index) found.push_back({.role = name.substr(0, dash), .index = *index, .record = &record});
  }
  return found;
}

std::string WhyOver(const Json& pod) {
  if (FindPath(pod, {"metadata", "deletionTimestamp"}) != nullptr) return "is being deleted";
  const std::string phase = TextOrEmpty(FindPath(pod, {"status"}), "phase");
  if (phase == "Succeeded" || phase == "Failed") return "has ended (" + phase + ")";
  return TrainingEnded(pod) ? "has ended" : "";
}

}  // namespace pstrain::cluster
