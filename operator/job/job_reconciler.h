#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/controller/controller.h"
#include "operator/controller/event_recorder.h"
#include "operator/job/act/executor.h"
#include "operator/job/act/status_pace.h"
#include "operator/job/job_state.h"
#include "operator/job/observe/job_view.h"
#include "operator/job/observe/progress_store.h"
#include "operator/job/observe/uncounted_pods.h"
#include "operator/job/operator_metrics.h"
#include "operator/kube/api_client.h"
#include "operator/plan/plan.h"

namespace pstrain::job {

/// What the reconciler needs from the program around it. Nothing is owned.
struct Dependencies {
  kube::ApiClient& client;
  const JobStore& jobs;
  const PodStore& pods;
  const OwnedObjectStore& services;
  const OwnedObjectStore& config_maps;
  UncountedPods& uncounted_pods;
  ProgressStore& progress;
  kube::EventRecorder& events;
  OperatorMetrics& metrics;
  const Clock& clock;
};

/// Makes the objects in the cluster agree with a job's specification: caches and own memory ->
/// Snapshot -> Plan -> what is counted into the status, then pods. Any thread; the work queue lets
/// no two threads reconcile one job.
class JobReconciler {
 public:
  JobReconciler(Dependencies dependencies, Executor::Options options,
                StatusPace::Options pace = {});

  /// For a Controller.
  Result<kube::RequeueAfter> Reconcile(const kube::ObjectKey& key, const std::stop_token& stop);

 private:
  using RequeueTime = std::optional<plan::Time>;

  JobState& StateOf(const kube::ObjectKey& key, const kube::ObjectMeta& meta)
      PSTRAIN_EXCLUDES(mutex_);
  /// Takes the server's version and status from the cache, unless the cache is behind us.
  static void UpdateFromCache(const kube::Cached<PSTrainingJob>& cached, JobState& state);
  void Forget(const kube::ObjectKey& key) PSTRAIN_EXCLUDES(mutex_);
  Status ReportInvalidSpec(const kube::ObjectKey& key, const JobStore::Object& cached,
                           JobState& state, const std::stop_token& stop);
  Result<RequeueTime> ReconcileValid(const ReconcileContext& context);
  /// What the Plan looks at; `gone` are the pods that are gone and not counted.
  plan::Snapshot Observe(const ReconcileContext& context, const std::vector<UncountedPod>& gone);
  /// Writes the plan's status, and then tells of the ends that it counts.
  Result<RequeueTime> StoreCounts(const ReconcileContext& context, const plan::PlanResult& plan,
                                  const std::vector<UncountedPod>& gone);
  /// How long starts and replacements have taken, for the metrics.
  void ObserveTimes(const ReconcileContext& context, const JobStatus& status);
  Status Execute(const ReconcileContext& context, const plan::PlanResult& plan,
                 std::chrono::seconds grace);
  /// Lets a running chief know the number of ps.
  Status TellChief(const ReconcileContext& context);
  /// Writes the status if it differs; a difference in nothing but numbers may wait, and then until
  /// when.
  Result<RequeueTime> WriteOrDelay(const ReconcileContext& context, const JobStatus& status);
  /// The Plan's status with what only the operator knows.
  JobStatus CompleteStatus(const ReconcileContext& context, JobStatus status) const;
  /// False while the apiserver takes no pod of a template; True again after that. Absent before.
  static void SetAcceptedCondition(const ReconcileContext& context, JobStatus& status);
  std::optional<Problem> FindProblem(const ReconcileContext& context) const;
  void EmitEvents(const ReconcileContext& context, const JobStatus& before);
  /// Deletes a job whose ttlSecondsAfterFinished is over; else when that will be.
  Result<RequeueTime> DeleteExpired(const ReconcileContext& context);
  RequeueTime NextRequeue(const ReconcileContext& context, const plan::PlanResult& plan) const;

  const Dependencies deps_;
  Executor executor_;
  StatusPace pace_;
  Mutex mutex_;
  std::map<kube::ObjectKey, std::unique_ptr<JobState>> states_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
