#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/job/observe/job_view.h"
#include "operator/plan/snapshot.h"

namespace pstrain::job {

/// A pod that is gone and that the stored status has not counted yet, as the Plan sees it.
struct UncountedPod {
  std::string uid;
  plan::Replica replica;
};

/// What the watch has shown and the caches no longer hold: pods that are gone until the status has
/// counted how they ended (batch/v1 calls them uncountedTerminatedPods; here they are in memory),
/// and since when a replica has needed its next attempt. Written by the watch's thread, read by
/// reconciles; any thread. Keys are uids of jobs.
class UncountedPods {
 public:
  explicit UncountedPods(const Clock& clock) : clock_(clock) {}

  /// A change of a pod, as Store tells it. A pod that has another controller now, or whose name
  /// another pod has, is gone for the job that owned it.
  void PodChanged(const PodStore::Object& before, const PodStore::Object& after)
      PSTRAIN_EXCLUDES(mutex_);
  /// A pod of the job that the server does not have, whatever the watch has shown.
  void RecordGone(const std::string& job_uid, const PodView& pod) PSTRAIN_EXCLUDES(mutex_);

  /// Pods of the job that are gone and not counted. Oldest first.
  std::vector<UncountedPod> List(const std::string& job_uid) const PSTRAIN_EXCLUDES(mutex_);
  /// The stored status has counted these: they are not listed any more.
  void MarkCounted(const std::string& job_uid, const std::vector<UncountedPod>& counted)
      PSTRAIN_EXCLUDES(mutex_);

  /// How long ago the watch first showed that the attempt before this one ends or ended; asked
  /// once, when this one has been created. Nothing when the watch has not shown it.
  std::optional<std::chrono::nanoseconds> TakeTimeSinceLoss(const std::string& job_uid,
                                                            const plan::ReplicaId& replica,
                                                            std::int32_t attempt)
      PSTRAIN_EXCLUDES(mutex_);

  /// A replacement that is ready.
  struct Ready {
    plan::Role role = plan::Role::kChief;
    /// Since the watch first showed that the attempt before it ends or ended.
    std::chrono::nanoseconds took{0};
  };
  /// Those of the job that the watch has shown since this was last asked.
  std::vector<Ready> TakeReady(const std::string& job_uid) PSTRAIN_EXCLUDES(mutex_);

  /// The job is suspended: what is gone is not lost.
  void ForgetLosses(const std::string& job_uid) PSTRAIN_EXCLUDES(mutex_);

  void Forget(const std::string& job_uid) PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Loss {
    std::int32_t attempt = 0;
    std::chrono::nanoseconds at{0};
    /// TakeTimeSinceLoss has told it.
    bool told = false;
  };
  struct Job {
    std::vector<UncountedPod> gone;
    /// Until the next attempt is ready.
    std::map<plan::ReplicaId, Loss> lost;
    std::vector<Ready> ready;
  };

  void RecordLoss(const plan::Replica& replica, Job& job) const PSTRAIN_REQUIRES(mutex_);
  void RecordReady(const plan::Replica& replica, Job& job) const PSTRAIN_REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Job> jobs_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
