#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "operator/kube/api_client.h"
#include "operator/plan/plan.h"
#include "operator/reconcile/job_state.h"
#include "operator/reconcile/job_view.h"
#include "operator/reconcile/observations.h"
#include "operator/reconcile/pod_builder.h"
#include "proto/psjob.pb.h"

namespace pstrain::reconcile {

/// One job on its way through a reconcile.
struct JobInHand {
  const PSTrainingJob& job;
  /// The job's pods as the cache shows them.
  const std::vector<PodStore::Object>& pods;
  JobState& state;
  plan::Time now;
  const std::stop_token& stop;
};

/// Does what the Plan says, with the apiserver: POST with deterministic names, so that a repeated
/// try cannot make two; DELETE with the uid as precondition, so that a successor of the same name
/// is safe. What is refused for good (quota, Pod Security, an invalid template, a name that belongs
/// to another) goes into the job's state and waits; what may pass by itself is the error returned.
/// Several reconciles at once, of different jobs.
class Actuator {
 public:
  struct Options {
    PodBuilderOptions pods;
    /// Calls at once for one job.
    std::size_t parallel_calls = 16;
  };
  /// Tells of a pod that was created, on any thread.
  using Created = std::function<void(const JobInHand& hand, const plan::StartReplica& start)>;

  /// None of the references is owned.
  Actuator(kube::ApiClient& client, const ChildStore& services, const ChildStore& config_maps,
           const Observations& observations, Options options, Created created);

  /// Makes the Service, the ConfigMap and then the pods of the starts.
  Status Start(const JobInHand& hand, const std::vector<plan::StartReplica>& starts);

  using Target = std::pair<plan::ReplicaId, std::int32_t>;  // place and attempt
  /// Deletes pods; the grace in seconds, or the pod's own when it is negative.
  Status Delete(const JobInHand& hand, const std::map<Target, std::int64_t>& targets);

  /// Deletes the job's ConfigMaps that neither its present specification nor a pod names.
  Status CollectConfigMaps(const JobInHand& hand);

 private:
  kube::ApiResult<Json> CreateOwned(const JobInHand& hand, const kube::Resource& resource,
                                    const Json& object);
  Status EnsureChild(const JobInHand& hand, const kube::Resource& resource, const ChildStore& store,
                     const Json& object);
  /// Records what will not pass by itself; the error otherwise.
  Status Refused(const JobInHand& hand, const std::string& object, const kube::ApiError& error);
  Status CreatePods(const JobInHand& hand, const std::vector<plan::StartReplica>& starts,
                    const std::string& config_map);

  kube::ApiClient& client_;
  const ChildStore& services_;
  const ChildStore& config_maps_;
  const Observations& observations_;
  const Options options_;
  const Created created_;
};

}  // namespace pstrain::reconcile
