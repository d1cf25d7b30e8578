#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics/collector.h"
#include "base/metrics/definition.h"
#include "operator/job/observe/job_view.h"
#include "operator/plan/plan.h"

namespace pstrain::job {

/// All that a job may be in.
inline constexpr std::array kPhases = {JobStatus::Pending, JobStatus::Running, JobStatus::Suspended,
                                       JobStatus::Succeeded, JobStatus::Failed};

/// How often attempts of one job's replicas have ended, by role and cause.
using RestartCounts = std::map<std::pair<plan::Role, plan::RestartCause>, std::uint64_t>;

/// The series of each job, made from its object at each scrape. Lives for one scrape; one thread.
class JobSeries {
 public:
  /// All families, without a series.
  JobSeries();

  /// Those of one job. A job whose specification cannot be used has none. Roles of which the job
  /// has no replica have no series.
  void Add(const kube::Cached<PSTrainingJob>& cached, const RestartCounts& restarts);

  std::vector<MetricFamily> Take() && { return std::move(families_); }

 private:
  using Labels = std::vector<MetricLabel>;

  void Put(const MetricDefinition& definition, Labels labels, double value);
  void AddTimes(const Labels& job, const kube::Cached<PSTrainingJob>& cached);
  void AddConditions(const Labels& job, const JobStatus& status);
  void AddReplicas(const Labels& job, const JobStatus& status, const RestartCounts& restarts);

  std::vector<MetricFamily> families_;
  std::map<std::string_view, std::size_t> place_of_;
};

}  // namespace pstrain::job
