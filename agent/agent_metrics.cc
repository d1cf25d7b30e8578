#include "agent/agent_metrics.h"

#include <sys/types.h>

#include <string>
#include <utility>

#include "agent/page_metrics.h"
#include "base/metrics/process_metrics.h"

namespace pstrain {
namespace {

using Labels = std::vector<MetricLabel>;

MetricSample Sample(Labels labels, double value) {
  MetricSample sample;
  sample.labels = std::move(labels);
  sample.value = value;
  return sample;
}

MetricFamily OneSample(const MetricDefinition& definition, Labels labels, double value) {
  MetricFamily family = FamilyOf(definition);
  family.samples.push_back(Sample(std::move(labels), value));
  return family;
}

Labels With(Labels labels, std::string name, std::string value) {
  labels.push_back({std::move(name), std::move(value)});
  return labels;
}

void AppendProcessMetrics(std::vector<MetricFamily>& families, const std::string& folder,
                          const Labels& labels) {
  for (MetricFamily& family : CollectProcessMetrics(folder)) {
    for (MetricSample& sample : family.samples) {
      sample.labels.insert(sample.labels.end(), labels.begin(), labels.end());
    }
    families.push_back(std::move(family));
  }
}

}  // namespace

std::vector<MetricFamily> CollectAgentMetrics(const TaskEnv& task, const AgentState& state,
                                              const StatsPage& page) {
  const Labels ours = {{kReplicaLabels[0], task.job_name},
                       {kReplicaLabels[1], task.replica_type},
                       {kReplicaLabels[2], std::to_string(task.replica_index)}};
  const pid_t child = state.child_pid;
  std::vector<MetricFamily> families;
  families.push_back(OneSample(agent_metrics::kInfo, With(ours, "version", PSTRAIN_VERSION), 1));
  families.push_back(OneSample(agent_metrics::kRuntimeUp, ours, child != 0 ? 1 : 0));
  families.push_back(OneSample(agent_metrics::kAttempt, ours, task.attempt));
  families.push_back(OneSample(agent_metrics::kNotices, With(ours, "source", "sigterm"),
                               static_cast<double>(state.stop_requests.load())));
  families.push_back(
      OneSample(agent_metrics::kOrphans, ours, static_cast<double>(state.orphans_reaped.load())));
  AppendProcessMetrics(families, "/proc/self", With(ours, "process", "agent"));
  if (child != 0) {
    AppendProcessMetrics(families, "/proc/" + std::to_string(child),
                         With(ours, "process", "runtime"));
  }
  AppendPageMetrics(page, ours, families);
  return families;
}

}  // namespace pstrain
