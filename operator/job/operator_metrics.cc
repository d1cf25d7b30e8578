#include "operator/job/operator_metrics.h"

#include <array>
#include <string_view>

namespace pstrain::job {
namespace {

using Labels = std::vector<MetricLabel>;

MetricFamily Gauge(std::string name, std::string help) {
  return {
      .name = std::move(name), .help = std::move(help), .type = MetricType::kGauge, .samples = {}};
}

void Add(MetricFamily& family, Labels labels, double value) {
  family.samples.push_back(
      {.labels = std::move(labels), .value = value, .count = 0, .buckets = {}});
}

constexpr std::array kPhases = {JobStatus::Pending, JobStatus::Running, JobStatus::Suspended,
                                JobStatus::Succeeded, JobStatus::Failed};

struct CountOfRole {
  std::string_view name;
  std::string_view help;
  std::int32_t (ReplicaStatus::*value)() const;
};

constexpr std::array<CountOfRole, 6> kCounts = {{
    {"pstrain_job_spec_replicas", "Replicas that the job asks for.", &ReplicaStatus::desired},
    {"pstrain_job_status_replicas_active", "Replicas that are started or starting.",
     &ReplicaStatus::active},
    {"pstrain_job_status_replicas_ready", "Replicas that are ready.", &ReplicaStatus::ready},
    {"pstrain_job_status_replicas_succeeded", "Replicas that completed.",
     &ReplicaStatus::succeeded},
    {"pstrain_job_status_replicas_failed", "Attempts that crashed.", &ReplicaStatus::failed},
    {"pstrain_job_status_replicas_terminating", "Replicas that are terminating.",
     &ReplicaStatus::terminating},
}};

Labels JobLabels(const kube::ObjectKey& key) {
  return {{"namespace", key.name_space}, {"job_name", key.name}};
}

Labels With(Labels labels, std::string name, std::string value) {
  labels.push_back({std::move(name), std::move(value)});
  return labels;
}

/// Restarts per role and cause, out of the counts in the status.
void AddRestarts(const kube::ObjectKey& key, const JobStatus& status, MetricFamily& family) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_role;
  for (const plan::Role role : plan::kRoles) by_role[std::string(plan::RoleName(role))] = {};
  for (const auto& [replica, record] : status.restarts().replicas()) {
    auto& [failures, disruptions] = by_role[replica.substr(0, replica.rfind('-'))];
    failures += record.failures();
    disruptions += record.disruptions();
  }
  for (const auto& [role, counts] : by_role) {
    const Labels labels = With(JobLabels(key), "replica_type", role);
    Add(family, With(labels, "cause", "failure"), static_cast<double>(counts.first));
    Add(family, With(labels, "cause", "disruption"), static_cast<double>(counts.second));
  }
}

}  // namespace

void OperatorMetrics::CountFinished(const std::string& name_space, const std::string& result,
                                    const std::string& reason) {
  MutexLock lock(mutex_);
  ++finished_[{name_space, {result, reason}}];
}

void OperatorMetrics::ObserveReplacement(plan::Role role, std::chrono::nanoseconds took) {
  MutexLock lock(mutex_);
  replacements_[role].Observe(took);
}

std::vector<MetricFamily> OperatorMetrics::Collect() const {
  MetricFamily phases =
      Gauge("pstrain_job_status_phase", "1 for the phase that the job is in, 0 for the others.");
  MetricFamily totals = Gauge("pstrain_jobs", "Jobs by phase.");
  MetricFamily restarts = {.name = "pstrain_job_restarts_total",
                           .help = "Restarts of replicas, by role and cause.",
                           .type = MetricType::kCounter,
                           .samples = {}};
  std::vector<MetricFamily> counts;
  counts.reserve(kCounts.size());
  for (const CountOfRole& count : kCounts) {
    counts.push_back(Gauge(std::string(count.name), std::string(count.help)));
  }
  std::map<std::pair<std::string, JobStatus::Phase>, std::int64_t> by_phase;
  for (const JobStore::Object& cached : jobs_.List()) {
    if (!cached->object.ok()) continue;
    const kube::ObjectKey& key = cached->meta.key;
    const JobStatus& status = cached->object->status();
    for (const JobStatus::Phase phase : kPhases) {
      by_phase[{key.name_space, phase}] += status.phase() == phase ? 1 : 0;
      Add(phases, With(JobLabels(key), "phase", JobStatus::Phase_Name(phase)),
          status.phase() == phase ? 1 : 0);
    }
    for (const auto& [role, replicas] : status.replica_statuses()) {
      for (std::size_t i = 0; i < kCounts.size(); ++i) {
        Add(counts[i], With(JobLabels(key), "replica_type", role),
            static_cast<double>((replicas.*kCounts[i].value)()));
      }
    }
    AddRestarts(key, status, restarts);
  }
  for (const auto& [key, count] : by_phase) {
    Add(totals, {{"namespace", key.first}, {"phase", JobStatus::Phase_Name(key.second)}},
        static_cast<double>(count));
  }
  std::vector<MetricFamily> families = {std::move(totals), std::move(phases), std::move(restarts)};
  for (MetricFamily& family : counts) families.push_back(std::move(family));
  AppendOutcomes(families);
  return families;
}

void OperatorMetrics::AppendOutcomes(std::vector<MetricFamily>& families) const {
  MetricFamily finished = {.name = "pstrain_jobs_finished_total",
                           .help = "Jobs that have ended, by result and reason.",
                           .type = MetricType::kCounter,
                           .samples = {}};
  MetricFamily replacements = {
      .name = "pstrain_job_replacement_create_seconds",
      .help =
          "Time from the watch event that shows a lost replica until the pod of its next "
          "attempt is created.",
      .type = MetricType::kHistogram,
      .samples = {}};
  MutexLock lock(mutex_);
  for (const auto& [finish, count] : finished_) {
    Add(finished,
        {{"namespace", finish.first},
         {"result", finish.second.first},
         {"reason", finish.second.second}},
        static_cast<double>(count));
  }
  for (const auto& [role, histogram] : replacements_) {
    replacements.samples.push_back(
        histogram.Sample({{"replica_type", std::string(plan::RoleName(role))}}));
  }
  families.push_back(std::move(finished));
  families.push_back(std::move(replacements));
}

}  // namespace pstrain::job
