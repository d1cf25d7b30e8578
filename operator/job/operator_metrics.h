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
#include "operator/job/observe/job_view.h"

namespace pstrain::job {

/// The operator's own metrics beside those of kube and controller. Series of one job are made from
/// the cache at each scrape, so they end with the job. Any thread.
class OperatorMetrics {
 public:
  /// The store outlives this.
  explicit OperatorMetrics(const JobStore& jobs) : jobs_(jobs) {}

  /// A job has ended: "succeeded" or "failed" and the reason of that condition.
  void CountFinished(const std::string& name_space, const std::string& result,
                     const std::string& reason) PSTRAIN_EXCLUDES(mutex_);
  /// From the watch event that showed a loss to the answer of the call that created the next
  /// attempt.
  void ObserveReplacement(plan::Role role, std::chrono::nanoseconds took) PSTRAIN_EXCLUDES(mutex_);

  std::vector<MetricFamily> Collect() const PSTRAIN_EXCLUDES(mutex_);

 private:
  using Finish = std::pair<std::string, std::pair<std::string, std::string>>;

  /// What is counted here and stands in no job's status: ends and replacements.
  void AppendOutcomes(std::vector<MetricFamily>& families) const;

  const JobStore& jobs_;
  mutable Mutex mutex_;
  std::map<Finish, std::uint64_t> finished_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<plan::Role, DurationHistogram> replacements_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
