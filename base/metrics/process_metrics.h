#pragma once

#include <string>
#include <vector>

#include "base/metrics/collector.h"

namespace pstrain {

/// The process_* families that Prometheus clients have in common (cpu seconds, resident and virtual
/// bytes, start time, open and maximum file descriptors, threads), read from `proc_directory`, e.g.
/// /proc/self or /proc/<pid>. What cannot be read is left out; a process that is gone gives none.
/// Source: prometheus.io, "Writing client libraries", process metrics; proc(5).
std::vector<MetricFamily> CollectProcessMetrics(const std::string& proc_directory = "/proc/self");

}  // namespace pstrain
