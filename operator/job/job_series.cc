#include "operator/job/job_series.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "operator/job/act/peer_identity.h"
#include "operator/job/metric_definitions.h"
#include "operator/job/observe/checkpoint_progress.h"
#include "operator/job/observe/checkpoint_volume.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/job/well_known.h"
#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {
namespace {

using Labels = std::vector<MetricLabel>;

/// Those that say that something is wrong, and two that say that nothing is.
constexpr std::array<std::string_view, 9> kConditions = {kAccepted,
                                                         "Blocked",
                                                         "NameConflict",
                                                         kCheckpointNotShared,
                                                         kCheckpointsFailing,
                                                         kPeersNotVerified,
                                                         kIssuerKeysStale,
                                                         "Restarting",
                                                         "Running"};

struct PerRole {
  const MetricDefinition& definition;
  std::int32_t (ReplicaStatus::*value)() const;
};
constexpr std::array<PerRole, 6> kPerRole = {{
    {metrics::kSpecReplicas, &ReplicaStatus::desired},
    {metrics::kActive, &ReplicaStatus::active},
    {metrics::kReady, &ReplicaStatus::ready},
    {metrics::kSucceeded, &ReplicaStatus::succeeded},
    {metrics::kFailed, &ReplicaStatus::failed},
    {metrics::kTerminating, &ReplicaStatus::terminating},
}};

Labels With(Labels labels, std::string name, std::string_view value) {
  labels.push_back({std::move(name), std::string(value)});
  return labels;
}

std::string TextOf(const std::map<std::string, std::string>& texts, std::string_view name) {
  const auto found = texts.find(std::string(name));
  return found == texts.end() ? std::string() : found->second;
}

double UnixSeconds(plan::Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

bool IsTrue(const JobStatus& status, std::string_view type) {
  const Condition* condition = plan::FindCondition(status, type);
  if (condition == nullptr) return type == kAccepted;
  return condition->status() == "True";
}

}  // namespace

JobSeries::JobSeries() {
  for (const MetricDefinition& definition : metrics::kOfOneJob) {
    place_of_[definition.name] = families_.size();
    families_.push_back(FamilyOf(definition));
  }
}

void JobSeries::Put(const MetricDefinition& definition, Labels labels, double value) {
  AddSample(families_[place_of_.at(definition.name)], std::move(labels), value);
}

void JobSeries::AddTimes(const Labels& job, const kube::Cached<PSTrainingJob>& cached) {
  const JobStatus& status = cached.object->status();
  for (const auto& [definition, text] :
       {std::pair(&metrics::kCreated, &cached.meta.creation_timestamp),
        std::pair(&metrics::kStarted, &status.start_time()),
        std::pair(&metrics::kFinished, &status.completion_time())}) {
    if (const auto time = plan::ParseTimestamp(*text)) Put(*definition, job, UnixSeconds(*time));
  }
}

void JobSeries::AddConditions(const Labels& job, const JobStatus& status) {
  for (const std::string_view type : kConditions) {
    Put(metrics::kCondition, With(job, "condition", type), IsTrue(status, type) ? 1 : 0);
  }
}

void JobSeries::AddReplicas(const Labels& job, const JobStatus& status,
                            const RestartCounts& restarts) {
  for (const auto& [name, replicas] : status.replica_statuses()) {
    const Labels labels = With(job, "replica_type", name);
    for (const PerRole& row : kPerRole) Put(row.definition, labels, (replicas.*row.value)());
    const std::optional<plan::Role> role = plan::RoleFromName(name);
    if (!role) continue;
    for (std::size_t i = 0; i < plan::kRestartCauses; ++i) {
      const auto cause = static_cast<plan::RestartCause>(i);
      const auto count = restarts.find({*role, cause});
      Put(metrics::kRestarts, With(labels, "cause", plan::RestartCauseName(cause)),
          count == restarts.end() ? 0 : static_cast<double>(count->second));
    }
  }
}

void JobSeries::Add(const kube::Cached<PSTrainingJob>& cached, const RestartCounts& restarts) {
  if (!cached.object.ok()) return;
  const JobStatus& status = cached.object->status();
  const JobSpec& spec = cached.object->spec();
  const Labels job = {{"namespace", cached.meta.key.name_space},
                      {"job_name", cached.meta.key.name}};
  Labels info = With(job, "program", spec.has_training() ? "built_in" : "own");
  info = With(std::move(info), "queue", TextOf(cached.meta.labels, kQueueLabel));
  const bool silent = TextOf(cached.meta.annotations, kAlertsAnnotation) == "off";
  Put(metrics::kInfo, With(std::move(info), "alerts", silent ? "off" : "on"), 1);
  for (const JobStatus::Phase phase : kPhases) {
    Put(metrics::kPhase, With(job, "phase", JobStatus::Phase_Name(phase)),
        status.phase() == phase ? 1 : 0);
  }
  const std::int32_t limit = spec.run_policy().backoff_limit();
  Put(metrics::kBackoffLimit, job, limit);
  Put(metrics::kBackoffRemaining, job, std::max(0, limit - status.restarts().failures()));
  AddTimes(job, cached);
  AddConditions(job, status);
  AddReplicas(job, status, restarts);
}

}  // namespace pstrain::job
