#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/controller/event_recorder.h"
#include "operator/job/act/executor.h"
#include "operator/job/job_state.h"
#include "operator/job/observe/job_view.h"
#include "operator/job/observe/progress_store.h"
#include "operator/job/observe/uncounted_pods.h"
#include "operator/job/operator_metrics.h"
#include "operator/kube/api_client.h"
#include "operator/plan/plan.h"

namespace pstrain::job {

/// What a reconcile reads and writes. Nothing is owned.
struct World {
  kube::ApiClient& client;
  const JobStore& jobs;
  const PodStore& pods;
  const ChildStore& services;
  const ChildStore& config_maps;
  Observations& observations;
  ProgressBook& progress;
  kube::EventRecorder& events;
  OperatorMetrics& metrics;
  const Clock& clock;
};

/// Brings jobs from what they are to what they shall be: caches and own memory -> Snapshot -> Plan
/// -> status first, then pods. Any threads, one job at a time each (the work queue sees to it).
class JobReconciler {
 public:
  JobReconciler(World world, Actuator::Options options);

  /// For a Controller: when to look again though nothing changes.
  Result<std::optional<std::chrono::nanoseconds>> Reconcile(const kube::ObjectKey& key,
                                                            const std::stop_token& stop);

 private:
  using Wake = std::optional<plan::Time>;

  JobState& StateOf(const kube::ObjectKey& key, const kube::ObjectMeta& meta)
      PSTRAIN_EXCLUDES(mutex_);
  /// Takes the server's version and status from the cache, unless the cache is behind us.
  static void CatchUp(const kube::Cached<PSTrainingJob>& cached, JobState& state);
  void Forget(const kube::ObjectKey& key) PSTRAIN_EXCLUDES(mutex_);
  Status Refuse(const kube::ObjectKey& key, const JobStore::Object& cached, JobState& state,
                const std::stop_token& stop);
  Result<Wake> Advance(const ReconcileContext& context);
  Status Act(const ReconcileContext& context, const plan::PlanResult& plan,
             std::chrono::seconds grace);
  /// Writes the status if it differs; a difference in nothing but counts of replicas may wait, and
  /// then until when: the pods of a job get ready one by one, and each would be a write.
  Result<Wake> WriteOrDelay(const ReconcileContext& context, const JobStatus& status);
  /// The Plan's status with what only the operator knows.
  JobStatus CompleteStatus(const ReconcileContext& context, JobStatus status) const;
  std::optional<Trouble> FindTrouble(const ReconcileContext& context) const;
  void Announce(const ReconcileContext& context, const JobStatus& before);
  /// Deletes a job whose ttlSecondsAfterFinished is over; else when that will be.
  Result<Wake> ExpireFinished(const ReconcileContext& context);
  Wake NextWake(const ReconcileContext& context, const plan::PlanResult& plan) const;

  const World world_;
  Actuator actuator_;
  Mutex mutex_;
  std::map<kube::ObjectKey, std::unique_ptr<JobState>> states_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
