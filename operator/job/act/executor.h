#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "operator/job/act/peer_identity.h"
#include "operator/job/act/template_trial.h"
#include "operator/job/build/config_map.h"
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
/// seconds is the error returned. Any thread; reconciles of different jobs may call concurrently.
class Executor {
 public:
  struct Options {
    PodBuilderOptions pods;
    /// Concurrent calls for one job, at most.
    std::size_t parallel_calls = 16;
    /// The cache of NetworkPolicies, not owned; null: none are made.
    const OwnedObjectStore* network_policies = nullptr;
    /// Who reads the metrics of pods, a list of NetworkPolicyPeer.
    Json network_policy_peers = Json::Array();
    /// Jobs of the built-in runtime wait where their replicas could not know each other.
    bool require_peer_identity = false;
  };
  /// Called for each pod that was created, on any thread.
  using Created =
      std::function<void(const ReconcileContext& context, const plan::StartReplica& start)>;

  /// None of the references is owned.
  Executor(kube::ApiClient& client, const OwnedObjectStore& services,
           const OwnedObjectStore& config_maps, const PodStore& pods, UncountedPods& uncounted_pods,
           Options options, Created created);

  /// Asks the server for pods that the cache should have shown long ago, and records those that are
  /// gone as uncounted: no watch reports a pod that was created and deleted while none was open.
  Status CheckUnseenPods(const kube::ObjectKey& job, JobState& state, plan::Time now,
                         const std::stop_token& stop);

  /// Tries the templates of the starts (template_trial.h), and creates the Service, the
  /// NetworkPolicy, the ConfigMaps and then the pods. All
  /// but the pods are created again for live pods when somebody has deleted them.
  Status Start(const ReconcileContext& context, const std::vector<plan::StartReplica>& starts);

  const PeerIdentity& peer_identity() const { return peer_identity_; }

  using Target = std::pair<plan::ReplicaId, std::int32_t>;  // replica and attempt
  /// Deletes pods; the grace in seconds, or the pod's own when it is negative. 0 is by force: the
  /// apiserver forgets the pod whether or not it still runs.
  Status Delete(const ReconcileContext& context, const std::map<Target, std::int64_t>& targets);

  /// Deletes the job's ConfigMaps that neither its present specification nor a pod names, and its
  /// NetworkPolicies but the present one.
  Status DeleteUnusedObjects(const ReconcileContext& context);

 private:
  /// True when the job has it, or created it so recently that the cache need not show it yet.
  bool HasOwnedObject(const ReconcileContext& context, const OwnedObjectStore& store,
                      const kube::ObjectKey& key, const std::string& name) const;
  /// A live pod's ConfigMap is gone.
  bool NeedsConfigMap(const ReconcileContext& context) const;
  struct MissingObject {
    const kube::Resource* resource = nullptr;
    std::string name;
    Json object;
    std::optional<kube::ApiError> error;
  };
  /// Unless the job has an object of its kind and name.
  void AddMissing(const ReconcileContext& context, const kube::Resource& resource,
                  const OwnedObjectStore& store, Json object,
                  std::vector<MissingObject>& missing) const;
  /// Side by side.
  Status CreateMissing(const ReconcileContext& context, std::vector<MissingObject> missing);
  /// Deletes what the job owns of that kind, but the names to keep.
  Status DeleteAllBut(const ReconcileContext& context, const kube::Resource& resource,
                      const OwnedObjectStore& store, const std::set<std::string>& keep);
  /// Records what does not pass by itself; the error otherwise.
  Status RecordRefusal(const ReconcileContext& context, const kube::Resource& resource,
                       const std::string& name, const kube::ApiError& error);
  bool CacheHas(const JobState::ConflictingObject& object) const;
  Status CreatePods(const ReconcileContext& context, const std::vector<plan::StartReplica>& starts,
                    const JobConfig& config, bool identified);
  /// The same of a pod; an invalid one is the template's fault.
  Status RecordPodRefusal(const ReconcileContext& context, const plan::StartReplica& start,
                          const kube::ApiError& error);
  /// The starts whose templates can be used; what is wrong with the others goes into the state.
  Result<std::vector<plan::StartReplica>> TryTemplates(
      const ReconcileContext& context, const std::vector<plan::StartReplica>& starts,
      const std::optional<JobConfig>& config);
  /// All that pods need, and then the pods; they are not created when something is refused. The
  /// ConfigMap is there with starts.
  Status StartOrRefuse(const ReconcileContext& context,
                       const std::vector<plan::StartReplica>& starts,
                       const std::optional<JobConfig>& config);

  kube::ApiClient& client_;
  const OwnedObjectStore& services_;
  const OwnedObjectStore& config_maps_;
  const PodStore& pods_;
  UncountedPods& uncounted_pods_;
  const Options options_;
  const Created created_;
  PeerIdentity peer_identity_;
  TemplateTrial trial_;
};

}  // namespace pstrain::job
