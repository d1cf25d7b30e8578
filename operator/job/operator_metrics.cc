#include "operator/job/operator_metrics.h"

#include <array>
#include <string_view>

#include "operator/job/metric_definitions.h"

namespace pstrain::job {
namespace {

/// Results, and the reasons of the events that tell of them.
constexpr std::array<std::pair<const char*, const char*>, 2> kResults = {
    {{"succeeded", "Succeeded"}, {"failed", "Failed"}}};

/// pstrain_jobs.
MetricFamily CountPhases(const std::vector<JobStore::Object>& jobs) {
  std::map<std::pair<std::string, JobStatus::Phase>, std::int64_t> by_phase;
  for (const JobStore::Object& cached : jobs) {
    if (!cached->object.ok()) continue;
    for (const JobStatus::Phase phase : kPhases) {
      by_phase[{cached->meta.key.name_space, phase}] +=
          cached->object->status().phase() == phase ? 1 : 0;
    }
  }
  MetricFamily family = FamilyOf(metrics::kJobs);
  for (const auto& [key, count] : by_phase) {
    AddSample(family, {{"namespace", key.first}, {"phase", JobStatus::Phase_Name(key.second)}},
              static_cast<double>(count));
  }
  return family;
}

MetricFamily ByRole(const MetricDefinition& definition,
                    const std::map<plan::Role, DurationHistogram>& histograms) {
  MetricFamily family = FamilyOf(definition);
  for (const auto& [role, histogram] : histograms) {
    family.samples.push_back(
        histogram.Sample({{"replica_type", std::string(plan::RoleName(role))}}));
  }
  return family;
}

}  // namespace

// Each series is there from the start: increase() sees the first event of one that was 0 before.
OperatorMetrics::OperatorMetrics(const JobStore& jobs) : jobs_(jobs) {
  MutexLock lock(mutex_);
  for (const plan::Role role : plan::kRoles) {
    replacements_[role];
    ready_[role];
  }
  for (const StartStage stage : kStartStages) starts_[stage];
}

void OperatorMetrics::CountFinished(const std::string& name_space, const std::string& result,
                                    const std::string& reason) {
  MutexLock lock(mutex_);
  ++finished_[{name_space, {result, reason}}];
}

void OperatorMetrics::CountRestart(const std::string& job_uid, plan::Role role,
                                   plan::RestartCause cause) {
  MutexLock lock(mutex_);
  ++restarts_[job_uid][{role, cause}];
}

void OperatorMetrics::ObserveReplacement(plan::Role role, std::chrono::nanoseconds took) {
  MutexLock lock(mutex_);
  replacements_[role].Observe(took);
}

void OperatorMetrics::ObserveReady(plan::Role role, std::chrono::nanoseconds took) {
  MutexLock lock(mutex_);
  ready_[role].Observe(took);
}

void OperatorMetrics::ObserveStart(StartStage stage, std::chrono::nanoseconds took) {
  MutexLock lock(mutex_);
  starts_[stage].Observe(took);
}

void OperatorMetrics::Forget(const std::string& job_uid) {
  MutexLock lock(mutex_);
  restarts_.erase(job_uid);
}

std::vector<MetricFamily> OperatorMetrics::Collect() const {
  const std::vector<JobStore::Object> jobs = jobs_.List();
  std::vector<MetricFamily> families = CollectJobs(jobs);
  families.push_back(CountPhases(jobs));
  AppendOutcomes(jobs, families);
  return families;
}

std::vector<MetricFamily> OperatorMetrics::CollectJobs(
    const std::vector<JobStore::Object>& jobs) const {
  JobSeries series;
  MutexLock lock(mutex_);
  for (const JobStore::Object& cached : jobs) {
    const auto restarts = restarts_.find(cached->meta.uid);
    series.Add(*cached, restarts == restarts_.end() ? RestartCounts() : restarts->second);
  }
  return std::move(series).Take();
}

void OperatorMetrics::AppendOutcomes(const std::vector<JobStore::Object>& jobs,
                                     std::vector<MetricFamily>& families) const {
  MetricFamily finished = FamilyOf(metrics::kJobsFinished);
  MetricFamily starts = FamilyOf(metrics::kStart);
  MutexLock lock(mutex_);
  std::map<Finish, std::uint64_t> finishes = finished_;
  for (const JobStore::Object& job : jobs) {
    for (const auto& [result, phase] : kResults) {
      finishes.try_emplace({job->meta.key.name_space, {result, phase}}, 0);
    }
  }
  for (const auto& [finish, count] : finishes) {
    AddSample(finished,
              {{"namespace", finish.first},
               {"result", finish.second.first},
               {"reason", finish.second.second}},
              static_cast<double>(count));
  }
  for (const auto& [stage, histogram] : starts_) {
    starts.samples.push_back(histogram.Sample({{"stage", std::string(StartStageName(stage))}}));
  }
  families.push_back(std::move(finished));
  families.push_back(ByRole(metrics::kReplacementCreate, replacements_));
  families.push_back(ByRole(metrics::kReplacementReady, ready_));
  families.push_back(std::move(starts));
}

}  // namespace pstrain::job
