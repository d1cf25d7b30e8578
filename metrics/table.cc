#include "metrics/table.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <utility>

#include "agent/agent_metrics.h"
#include "agent/page_metrics.h"
#include "base/metrics/definition.h"
#include "base/metrics/process_metrics.h"
#include "operator/controller/metric_definitions.h"
#include "operator/job/metric_definitions.h"
#include "operator/kube/client_metrics.h"
#include "runtime/stats/refusals.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {
namespace {

using Labels = std::vector<std::string>;

Labels WordsOf(std::string_view text) {
  std::istringstream words{std::string(text)};
  Labels labels;
  for (std::string word; words >> word;) labels.push_back(std::move(word));
  return labels;
}

void Add(const std::string& source, std::span<const MetricDefinition> definitions,
         const Labels& more, std::vector<MetricRow>& rows) {
  for (const MetricDefinition& definition : definitions) {
    MetricRow row{.source = source,
                  .name = std::string(definition.name),
                  .type = definition.type,
                  .labels = WordsOf(definition.labels),
                  .help = std::string(definition.help)};
    row.labels.insert(row.labels.end(), more.begin(), more.end());
    rows.push_back(std::move(row));
  }
}

/// What a role puts on its page by `register_all`, as its agent shows it.
void AddRole(const std::string& role, const std::function<void(StatsWriter&)>& register_all,
             std::vector<MetricRow>& rows) {
  const std::unique_ptr<StatsWriter> writer = StatsWriter::InMemory();
  register_all(*writer);
  if (writer->page() == nullptr) return;
  std::vector<MetricLabel> ours;
  ours.reserve(kReplicaLabels.size());
  for (const char* name : kReplicaLabels) ours.push_back({name, ""});
  std::vector<MetricFamily> families;
  AppendPageMetrics(*writer->page(), ours, families);
  for (MetricFamily& family : families) {
    MetricRow row{.source = role,
                  .name = std::move(family.name),
                  .type = family.type,
                  .labels = {},
                  .help = std::move(family.help)};
    for (const MetricLabel& label : family.samples.front().labels) row.labels.push_back(label.name);
    rows.push_back(std::move(row));
  }
}

/// What a process of the role does before it works.
template <typename... Stats>
void Register(StatsWriter& writer) {
  (static_cast<void>(Stats(writer)), ...);
}

}  // namespace

std::vector<MetricRow> MetricTable() {
  std::vector<MetricRow> rows;
  Add("operator", job::metrics::kOfAllJobs, {}, rows);
  Add("operator", job::metrics::kOfOneJob, {}, rows);
  Add("operator", kube::metrics::kAll, {}, rows);
  Add("operator", kube::kClientFamilies, {}, rows);
  Add("operator", kProcessFamilies, {}, rows);
  const Labels replica(kReplicaLabels.begin(), kReplicaLabels.end());
  Add("agent", agent_metrics::kAll, replica, rows);
  Labels of_process = {"process"};
  of_process.insert(of_process.begin(), replica.begin(), replica.end());
  Add("agent", kProcessFamilies, of_process, rows);
  AddRole("chief", Register<RuntimeStats, TokenStats, ChiefStats, Refusals>, rows);
  AddRole("ps", Register<RuntimeStats, PeerStats, TokenStats, PsStats, Refusals>, rows);
  AddRole("worker", Register<RuntimeStats, PeerStats, TokenStats, WorkerStats>, rows);
  AddRole("evaluator", Register<RuntimeStats, PeerStats, TokenStats, EvaluatorStats>, rows);
  return rows;
}

std::string_view UnitOf(const MetricRow& row) {
  std::string_view name = row.name;
  constexpr std::string_view kTotal = "_total";
  if (name.ends_with(kTotal)) name.remove_suffix(kTotal.size());
  if (name.ends_with("_timestamp_seconds") || name.ends_with("_start_time_seconds")) {
    return "timestamp";
  }
  for (const std::string_view unit : {"seconds", "bytes", "steps", "examples"}) {
    if (name.ends_with(unit) && name[name.size() - unit.size() - 1] == '_') return unit;
  }
  return {};
}

}  // namespace pstrain
