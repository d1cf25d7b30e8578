#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/plan/snapshot.h"
#include "operator/reconcile/job_view.h"

namespace pstrain::reconcile {

/// What the watch has shown that a cache of the present cannot hold: pods that are gone, and since
/// when a place needs another attempt. Written by the watch's thread, read by reconciles; any
/// thread. Keys are uids of jobs.
class Observations {
 public:
  explicit Observations(const Clock& clock) : clock_(clock) {}

  /// A change of a pod, as Store tells it.
  void PodChanged(const PodStore::Object& before, const PodStore::Object& after)
      PSTRAIN_EXCLUDES(mutex_);

  /// Pods of the job that are gone, until DropCounted. Oldest first.
  std::vector<plan::Replica> Gone(const std::string& job_uid) const PSTRAIN_EXCLUDES(mutex_);
  bool IsGone(const std::string& job_uid, const std::string& pod_uid) const
      PSTRAIN_EXCLUDES(mutex_);
  /// The counts in `restarts` have these attempts now.
  void DropCounted(const std::string& job_uid, const Restarts& restarts) PSTRAIN_EXCLUDES(mutex_);

  /// How long ago the watch first showed that the place's attempt ends or ended; asked once, when
  /// the next attempt has been created. Nothing when no such thing was seen.
  std::optional<std::chrono::nanoseconds> TakeLossAge(const std::string& job_uid,
                                                      const plan::ReplicaId& place)
      PSTRAIN_EXCLUDES(mutex_);

  void Forget(const std::string& job_uid) PSTRAIN_EXCLUDES(mutex_);

 private:
  struct GonePod {
    std::string uid;
    plan::Replica replica;
  };
  struct Job {
    std::vector<GonePod> gone;
    std::map<plan::ReplicaId, std::chrono::nanoseconds> lost_at;
  };

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Job> jobs_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::reconcile
