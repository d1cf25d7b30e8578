#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text/json.h"

namespace pstrain::cluster {

/// One pod of a job, as its labels say. A value that refers to the pod; the functions here are
/// pure: any thread.
struct ReplicaPod {
  std::string role;
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  const Json* pod = nullptr;

  /// "worker-1".
  std::string Replica() const { return role + "-" + std::to_string(index); }
  std::string PodName() const;
};

/// The pods that are of a replica, by role, index and attempt, the newest last. They refer to
/// `pods`.
std::vector<ReplicaPod> ReplicaPods(const std::vector<Json>& pods);

/// Of each replica the pod of its newest attempt, in the same order.
std::vector<ReplicaPod> NewestPods(const std::vector<Json>& pods);

/// Their replicas, each once: "chief-0, worker-1".
std::string ReplicaNames(const std::vector<ReplicaPod>& pods);

/// Why there is nothing of the replica to end in this pod: "is being deleted", "has ended
/// (Succeeded)"; empty while it may run.
std::string WhyOver(const Json& pod);

/// A replica that the status of a job counts, be its pod there or not.
struct RecordedReplica {
  std::string role;
  std::int64_t index = 0;
  /// status.restarts.replicas.ROLE-INDEX; refers to the job.
  const Json* record = nullptr;
};
std::vector<RecordedReplica> RecordedReplicas(const Json& job);

/// metadata.name of any object.
std::string NameOf(const Json& object);

}  // namespace pstrain::cluster
