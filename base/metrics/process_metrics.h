#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/metrics/collector.h"
#include "base/metrics/definition.h"

namespace pstrain {

/// The families of a process.
inline constexpr MetricDefinition kProcessCpu{"process_cpu_seconds_total", MetricType::kCounter, "",
                                              "User and system CPU time."};
inline constexpr MetricDefinition kProcessResident{"process_resident_memory_bytes",
                                                   MetricType::kGauge, "", "Resident memory."};
inline constexpr MetricDefinition kProcessVirtual{"process_virtual_memory_bytes",
                                                  MetricType::kGauge, "", "Virtual memory."};
inline constexpr MetricDefinition kProcessThreads{"process_threads", MetricType::kGauge, "",
                                                  "Threads."};
inline constexpr MetricDefinition kProcessStart{"process_start_time_seconds", MetricType::kGauge,
                                                "", "Start, since the Unix epoch."};
inline constexpr MetricDefinition kProcessOpenFds{"process_open_fds", MetricType::kGauge, "",
                                                  "Open file descriptors."};
inline constexpr MetricDefinition kProcessMaxFds{"process_max_fds", MetricType::kGauge, "",
                                                 "Limit of open file descriptors."};
inline constexpr std::array kProcessFamilies = {kProcessCpu,     kProcessResident, kProcessVirtual,
                                                kProcessThreads, kProcessStart,    kProcessOpenFds,
                                                kProcessMaxFds};

/// The process_* families that Prometheus clients have in common (cpu seconds, resident and virtual
/// bytes, start time, open and maximum file descriptors, threads), read from `proc_directory`, e.g.
/// /proc/self or /proc/<pid>. What cannot be read is left out; a process that is gone gives none.
/// Source: prometheus.io, "Writing client libraries", process metrics; proc(5).
std::vector<MetricFamily> CollectProcessMetrics(const std::string& proc_directory = "/proc/self");

}  // namespace pstrain
