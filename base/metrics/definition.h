#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics/collector.h"

namespace pstrain {

/// What a family of metrics is: a line of the tables from which docs/metrics.md is made
/// (metrics/table.h joins them) and from which programs make their families. A value;
/// any thread.
struct MetricDefinition {
  std::string_view name;
  MetricType type = MetricType::kGauge;
  /// Names of the labels, separated by blanks, without those that its program adds to all of its
  /// series; empty when there are none.
  std::string_view labels;
  /// A sentence.
  std::string_view help;
};

/// The family without a series.
inline MetricFamily FamilyOf(const MetricDefinition& definition) {
  return {.name = std::string(definition.name),
          .help = std::string(definition.help),
          .type = definition.type,
          .samples = {}};
}

/// Appends the series of a counter or gauge.
inline void AddSample(MetricFamily& family, std::vector<MetricLabel> labels, double value) {
  MetricSample& sample = family.samples.emplace_back();
  sample.labels = std::move(labels);
  sample.value = value;
}

}  // namespace pstrain
