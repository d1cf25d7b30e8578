#include "operator/job/observe/progress_store.h"

#include <utility>

#include "operator/job/observe/checkpoint_progress.h"

namespace pstrain::job {

bool ProgressStore::Record(const std::string& job_uid, ProgressReading reading) {
  MutexLock lock(mutex_);
  const auto known = jobs_.find(job_uid);
  if (known == jobs_.end()) {
    jobs_[job_uid] = {.last = std::move(reading), .before = std::nullopt};
    return true;
  }
  Readings& readings = known->second;
  if (!reading.IsNewerThan(readings.last)) return false;
  const bool news = !(reading.values == readings.last.values);
  readings.before = std::exchange(readings.last, std::move(reading));
  return news;
}

std::optional<TrainingStatus> ProgressStore::Status(const std::string& job_uid,
                                                    const TrainingStatus& former) const {
  MutexLock lock(mutex_);
  const auto known = jobs_.find(job_uid);
  if (known == jobs_.end()) return std::nullopt;
  const Readings& readings = known->second;
  return MakeTrainingStatus(readings.last, readings.before ? &*readings.before : nullptr, former);
}

bool ProgressStore::Heard(const std::string& job_uid) const {
  MutexLock lock(mutex_);
  return jobs_.contains(job_uid);
}

std::optional<Problem> ProgressStore::CheckpointsFailing(const std::string& job_uid) const {
  MutexLock lock(mutex_);
  const auto known = jobs_.find(job_uid);
  if (known == jobs_.end()) return std::nullopt;
  return job::CheckpointsFailing(known->second.last);
}

std::optional<plan::FinalCounts> ProgressStore::ProvenCounts(const std::string& job_uid,
                                                             std::int32_t attempt) const {
  MutexLock lock(mutex_);
  const auto known = jobs_.find(job_uid);
  if (known == jobs_.end() || known->second.last.attempt != attempt) return std::nullopt;
  const std::optional<plan::FinalCounts> counts = FinalCountsOf(known->second.last);
  return counts && MismatchOf(*counts).empty() ? counts : std::nullopt;
}

void ProgressStore::Forget(const std::string& job_uid) {
  MutexLock lock(mutex_);
  jobs_.erase(job_uid);
}

}  // namespace pstrain::job
