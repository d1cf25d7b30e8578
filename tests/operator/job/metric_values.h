#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/metrics/collector.h"

namespace pstrain::testing {

/// Each series of the families by its name and labels, as name{a=1,b=2}: the value, of a histogram
/// the count.
inline std::map<std::string, double> ValuesOf(const std::vector<MetricFamily>& families) {
  std::map<std::string, double> values;
  for (const MetricFamily& family : families) {
    for (const MetricSample& sample : family.samples) {
      std::string series = family.name + "{";
      for (const MetricLabel& label : sample.labels) {
        series += (series.back() == '{' ? "" : ",") + label.name + "=" + label.value;
      }
      values[series + "}"] =
          family.type == MetricType::kHistogram ? static_cast<double>(sample.count) : sample.value;
    }
  }
  return values;
}

}  // namespace pstrain::testing
