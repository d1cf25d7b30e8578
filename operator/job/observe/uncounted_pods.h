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

/// A pod that is gone, as the Plan sees it.
struct GonePod {
  std::string uid;
  plan::Replica replica;
};

/// What the watch has shown that a cache of the present cannot hold: pods that are gone, and since
/// when a place needs another attempt. Written by the watch's thread, read by reconciles; any
/// thread. Keys are uids of jobs.
class Observations {
 public:
  explicit Observations(const Clock& clock) : clock_(clock) {}

  /// A change of a pod, as Store tells it. A pod that has another controller now, or whose name
  /// another pod has, is gone for the job that owned it.
  void PodChanged(const PodStore::Object& before, const PodStore::Object& after)
      PSTRAIN_EXCLUDES(mutex_);
  /// A pod of the job that the server does not have, whatever the watch has shown.
  void PodIsGone(const std::string& job_uid, const PodView& pod) PSTRAIN_EXCLUDES(mutex_);

  /// Pods of the job that are gone, until Drop. Oldest first.
  std::vector<GonePod> Gone(const std::string& job_uid) const PSTRAIN_EXCLUDES(mutex_);
  /// The stored status has counted these.
  void Drop(const std::string& job_uid, const std::vector<GonePod>& counted)
      PSTRAIN_EXCLUDES(mutex_);

  /// How long ago the watch first showed that the attempt before this one ends or ended; asked
  /// once, when this one has been created. Nothing when no such thing was seen.
  std::optional<std::chrono::nanoseconds> TakeLossAge(const std::string& job_uid,
                                                      const plan::ReplicaId& place,
                                                      std::int32_t attempt)
      PSTRAIN_EXCLUDES(mutex_);

  void Forget(const std::string& job_uid) PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Loss {
    std::int32_t attempt = 0;
    std::chrono::nanoseconds at{0};
  };
  struct Job {
    std::vector<GonePod> gone;
    std::map<plan::ReplicaId, Loss> lost;
  };

  void NoteLoss(const plan::Replica& replica, Job& job) const PSTRAIN_REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Job> jobs_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
