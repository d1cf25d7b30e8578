#pragma once

#include <chrono>
#include <optional>

#include "base/mutex.h"
#include "operator/job/job_state.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// Decides when a status is written that differs from the stored one in nothing but counts of
/// replicas and progress of the training: the pods of a job get ready one by one, progress is never
/// done, and each would be a write. Everything else is written immediately. Such writes of all jobs
/// together stay below a rate, so that they never stand before what somebody waits for. Any thread.
class StatusPace {
 public:
  struct Options {
    /// Between two writes of one job's counts, and of its progress.
    std::chrono::milliseconds counts_period{1000};
    std::chrono::milliseconds progress_period{30000};
    /// Of all jobs together: so many without a wait, then one in each period.
    int burst = 20;
    std::chrono::milliseconds period{50};
  };
  explicit StatusPace(Options options) : options_(options) {}

  /// When `status` may be written; nothing: now. Remembers in `state` the place among the writes of
  /// all jobs.
  std::optional<plan::Time> Due(const JobStatus& status, plan::Time now, JobState& state)
      PSTRAIN_EXCLUDES(mutex_);
  /// It was written, over `before`.
  static void Written(const JobStatus& before, plan::Time now, JobState& state);

 private:
  /// The place of the job among the writes of all jobs; takes one where it has none.
  plan::Time PlaceOf(plan::Time now, JobState& state) PSTRAIN_EXCLUDES(mutex_);

  const Options options_;
  Mutex mutex_;
  /// The last place that was taken, and when somebody last looked.
  plan::Time last_place_ PSTRAIN_GUARDED_BY(mutex_){};
  plan::Time asked_at_ PSTRAIN_GUARDED_BY(mutex_){};
};

}  // namespace pstrain::job
