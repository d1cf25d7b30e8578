#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/plan/snapshot.h"
#include "proto/contract/stated_failure.h"

namespace pstrain::job {

/// What the operator keeps of a Pod. Texts are as the apiserver writes them; empty when absent. A
/// value: those in a cache do not change, any thread reads them.
struct PodView {
  std::string name;
  std::string name_space;
  std::string uid;
  std::string resource_version;
  /// Of the owner reference with controller: true.
  std::string controller_uid;
  std::string job_name;
  plan::ReplicaId replica;
  std::int32_t attempt = 0;
  /// Name of the job's ConfigMap that this pod mounts.
  std::string config_map;
  /// It has tokens to show, and asks its callers for theirs (kIdentityVolume).
  bool identified = false;
  /// The number of ps that a chief's pod was told last (kPsReplicasAnnotation).
  std::string ps_replicas;

  std::optional<plan::Time> created;
  std::optional<plan::Time> deleted;  // deletionTimestamp
  std::string phase;                  // Pending, Running, Succeeded, Failed, Unknown
  std::string pod_reason;             // status.reason
  std::string pod_message;
  std::string pod_ip;
  std::string node;
  bool ready = false;
  std::optional<plan::Time> started;
  /// Reason and message of the condition DisruptionTarget while it is True.
  std::string disruption_reason;
  std::string disruption_message;
  /// Those that not every pod has, DisruptionTarget among them.
  std::vector<plan::PodCondition> conditions;
  /// Reason and message of PodScheduled while it is False.
  std::string unscheduled_reason;
  std::string unscheduled_message;
  /// While it is False the names of what the scheduler may wait for: the pod's scheduling gates, or
  /// else its claims.
  std::vector<std::string> awaited;
  /// When it was scheduled, or the last of its init containers ended.
  std::optional<plan::Time> progressed;
  /// PodReadyToStartContainers is True: volumes and network of the pod are there.
  bool sandbox_ready = false;

  struct Container {
    bool known = false;  // there is a status for it
    std::string waiting_reason;
    std::string waiting_message;
    bool running = false;
    bool terminated = false;
    std::int32_t exit_code = 0;
    std::int32_t signal = 0;
    std::string reason;   // e.g. OOMKilled, Error, Completed
    std::string message;  // the agent's termination message
    /// What the agent says in it.
    std::string agent_reason;
    std::string agent_message;
    /// Why the program says that no attempt can succeed.
    std::optional<StatedFailure> failure;
    bool oom = false;
    bool told_to_stop = false;  // SIGTERM has reached the program
    std::optional<plan::Time> started;
    std::optional<plan::Time> finished;

    /// The container runtime could not start the program: nothing of it ran.
    bool CouldNotStart() const;
  };
  /// The training container: the one that kTrainingContainerAnnotation names.
  Container container;
  /// Of the others those that keep the pod from starting: each waits for more than its turn, is an
  /// init container that failed, or a sidecar of initContainers that runs and whose startup probe
  /// has not succeeded. Of one that is started again and again, exit code, reason and message are
  /// those of its last end.
  struct Stuck {
    std::string name;
    bool init = false;
    Container container;
  };
  std::vector<Stuck> stuck;
  /// An init container that is to end is at work.
  bool initializing = false;
  /// Of the pod's other ordinary containers one has not ended: it runs, or has yet to. Sidecars of
  /// initContainers are not among them: the kubelet ends those.
  bool others_remain = false;
  /// A sidecar of initContainers has not ended. The kubelet ends them after all other containers,
  /// and the pod with them, which may take the whole grace period.
  bool sidecars_remain = false;
};

/// Reads a Pod of the core/v1 API. INVALID_ARGUMENT, naming the field, when it carries our labels
/// in a form that we did not write (then it is not ours), or lacks a name or uid.
Result<PodView> DecodePod(const Json& pod);

}  // namespace pstrain::job
