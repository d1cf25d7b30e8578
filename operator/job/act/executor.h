#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "operator/job/build/pod.h"
#include "operator/job/job_state.h"
#include "operator/job/observe/job_view.h"
#include "operator/job/observe/uncounted_pods.h"
#include "operator/job/reconcile_context.h"
#include "operator/kube/api_client.h"
#include "operator/plan/plan.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// Does what the Plan says, with the apiserver: POST with deterministic names, so that a repeated
/// try cannot make two; DELETE with the uid as precondition, so that a successor of the same name
/// is safe. What is refused (quota, Pod Security, an invalid template, a name that belongs to
/// another, an admission webhook) goes into the job's state and waits; what passes by itself within
/// seconds is the error returned.
/// Several reconciles at once, of different jobs.
class Actuator {
 public:
  struct Options {
    PodBuilderOptions pods;
    /// Calls at once for one job.
    std::size_t parallel_calls = 16;
  };
  /// Tells of a pod that was created, on any thread.
  using Created =
      std::function<void(const ReconcileContext& context, const plan::StartReplica& start)>;

  /// None of the references is owned.
  Actuator(kube::ApiClient& client, const ChildStore& services, const ChildStore& config_maps,
           const PodStore& pods, Observations& observations, Options options, Created created);

  /// Asks the server for pods that the cache should have shown long ago and tells the observations
  /// of those that are gone: a pod that came and went while no watch was open leaves no news.
  Status CheckUnseen(const kube::ObjectKey& job, JobState& state, plan::Time now,
                     const std::stop_token& stop);

  /// Makes the Service, the ConfigMap and then the pods of the starts. The Service and the
  /// ConfigMap of live pods come back when somebody has deleted them.
  Status Start(const ReconcileContext& context, const std::vector<plan::StartReplica>& starts);

  using Target = std::pair<plan::ReplicaId, std::int32_t>;  // place and attempt
  /// Deletes pods; the grace in seconds, or the pod's own when it is negative.
  Status Delete(const ReconcileContext& context, const std::map<Target, std::int64_t>& targets);

  /// Deletes the job's ConfigMaps that neither its present specification nor a pod names.
  Status CollectConfigMaps(const ReconcileContext& context);

 private:
  /// True when the job has it, or made it so lately that the cache need not show it yet.
  bool HasChild(const ReconcileContext& context, const ChildStore& store,
                const kube::ObjectKey& key, const std::string& name) const;
  Status CreateChild(const ReconcileContext& context, const kube::Resource& resource,
                     const Json& object);
  Status EnsureService(const ReconcileContext& context);
  /// The job's ConfigMap as it is now, if a start or a live pod needs it; its name.
  Result<std::string> EnsureConfigMap(const ReconcileContext& context, bool starts);
  /// Records what does not pass by itself; the error otherwise.
  Status Refused(const ReconcileContext& context, const kube::Resource& resource,
                 const std::string& name, const kube::ApiError& error);
  bool Shows(const JobState::Taken& object) const;
  Status CreatePods(const ReconcileContext& context, const std::vector<plan::StartReplica>& starts,
                    const std::string& config_map);

  kube::ApiClient& client_;
  const ChildStore& services_;
  const ChildStore& config_maps_;
  const PodStore& pods_;
  Observations& observations_;
  const Options options_;
  const Created created_;
};

}  // namespace pstrain::job
