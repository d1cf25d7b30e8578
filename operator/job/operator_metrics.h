#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics/collector.h"
#include "base/metrics/histogram.h"
#include "base/mutex.h"
#include "operator/job/job_series.h"
#include "operator/job/observe/job_view.h"
#include "operator/job/start_times.h"

namespace pstrain::job {

/// The operator's own metrics beside those of kube and controller (metric_definitions.h). Series of
/// one job are made from the cache at each scrape, so they end with the job. Any thread.
class OperatorMetrics {
 public:
  /// The store outlives this.
  explicit OperatorMetrics(const JobStore& jobs);

  /// A job has ended: "succeeded" or "failed" and the reason of that condition.
  void CountFinished(const std::string& name_space, const std::string& result,
                     const std::string& reason) PSTRAIN_EXCLUDES(mutex_);
  /// The stored status has counted this end.
  void CountRestart(const std::string& job_uid, plan::Role role, plan::RestartCause cause)
      PSTRAIN_EXCLUDES(mutex_);
  /// From the watch event that showed a loss to the answer of the call that created the next
  /// attempt.
  void ObserveReplacement(plan::Role role, std::chrono::nanoseconds took) PSTRAIN_EXCLUDES(mutex_);
  /// From the same event until the watch showed that the next attempt is ready.
  void ObserveReady(plan::Role role, std::chrono::nanoseconds took) PSTRAIN_EXCLUDES(mutex_);
  /// From the start of a job.
  void ObserveStart(StartStage stage, std::chrono::nanoseconds took) PSTRAIN_EXCLUDES(mutex_);

  /// The job is gone: what was counted of it too.
  void Forget(const std::string& job_uid) PSTRAIN_EXCLUDES(mutex_);

  std::vector<MetricFamily> Collect() const PSTRAIN_EXCLUDES(mutex_);

 private:
  using Finish = std::pair<std::string, std::pair<std::string, std::string>>;

  /// Series of one job each.
  std::vector<MetricFamily> CollectJobs(const std::vector<JobStore::Object>& jobs) const
      PSTRAIN_EXCLUDES(mutex_);
  /// What is counted here and stands in no job's status: ends and times.
  void AppendOutcomes(const std::vector<JobStore::Object>& jobs,
                      std::vector<MetricFamily>& families) const PSTRAIN_EXCLUDES(mutex_);

  const JobStore& jobs_;
  mutable Mutex mutex_;
  std::map<Finish, std::uint64_t> finished_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<std::string, RestartCounts> restarts_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<plan::Role, DurationHistogram> replacements_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<plan::Role, DurationHistogram> ready_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<StartStage, DurationHistogram> starts_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
