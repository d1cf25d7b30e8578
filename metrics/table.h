#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/metrics/collector.h"

namespace pstrain {

/// One family of metrics that a program of pstrain serves at /metrics.
struct MetricRow {
  /// Who serves it: "operator", "agent" (of every replica), or a role of the built-in runtime,
  /// whose agent shows its stats: "chief", "ps", "worker", "evaluator".
  std::string source;
  std::string name;
  MetricType type = MetricType::kGauge;
  /// Names of all of its labels, in the order of the page; without le.
  std::vector<std::string> labels;
  std::string help;
};

/// All families of all programs: what docs/metrics.md lists, and what monitors, rules and
/// dashboards may use. It joins the lists of definitions beside the code that counts
/// (MetricDefinition), and what each role registers on its stats page. A family that several roles
/// have is there once for each. Pure; any thread.
std::vector<MetricRow> MetricTable();

/// The most series that pages may have; tests hold them to it. The operator's own grow with the
/// namespaces that have jobs and with the codes of the apiserver's answers; this is for 10
/// namespaces.
inline constexpr int kOperatorSeries = 600;
inline constexpr int kSeriesOfOneJob = 90;
inline constexpr int kSeriesOfOneReplica = 120;

/// What the value is counted in, as the name ends: "seconds", "bytes", "steps"; "timestamp" for
/// Unix seconds; empty for plain numbers. Pure.
std::string_view UnitOf(const MetricRow& row);

}  // namespace pstrain
