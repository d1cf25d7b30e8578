#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "operator/job/observe/problem/problem.h"
#include "operator/job/observe/training_status.h"

namespace pstrain::job {

/// The last two readings of each job's chief, by the job's uid. Written by the poller and by
/// reconciles that find a chief's termination message; any thread.
class ProgressStore {
 public:
  /// An older reading than the last is dropped. True when its values differ from the last.
  bool Record(const std::string& job_uid, ProgressReading reading) PSTRAIN_EXCLUDES(mutex_);

  /// status.training now; nothing before the first reading.
  std::optional<TrainingStatus> Status(const std::string& job_uid,
                                       const TrainingStatus& former) const PSTRAIN_EXCLUDES(mutex_);

  /// There is a reading: not before a new process of the operator has heard the chief.
  bool Heard(const std::string& job_uid) const PSTRAIN_EXCLUDES(mutex_);

  /// What keeps checkpoints from being written, by the last reading.
  std::optional<Problem> CheckpointsFailing(const std::string& job_uid) const
      PSTRAIN_EXCLUDES(mutex_);

  /// What that attempt of the chief counted when it was last heard, if that proves its success. A
  /// reading of before its end proves nothing else: then there is nothing.
  std::optional<plan::FinalCounts> ProvenCounts(const std::string& job_uid,
                                                std::int32_t attempt) const
      PSTRAIN_EXCLUDES(mutex_);

  void Forget(const std::string& job_uid) PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Readings {
    ProgressReading last;
    std::optional<ProgressReading> before;
  };

  mutable Mutex mutex_;
  std::map<std::string, Readings> jobs_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
