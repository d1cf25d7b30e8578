#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace pstrain {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

struct MetricLabel {
  std::string name;
  std::string value;
};

struct MetricBucket {
  double upper_bound = 0;  // inclusive; +infinity for the last
  std::uint64_t cumulative_count = 0;
};

/// One series of a family at the time of a scrape.
struct MetricSample {
  std::vector<MetricLabel> labels;
  double value = 0;                   // counter, gauge; the sum of a histogram
  std::uint64_t count = 0;            // histogram only
  std::vector<MetricBucket> buckets;  // histogram only, ascending
};

/// All series of one name. Names follow Prometheus: base units, counters end in _total.
struct MetricFamily {
  std::string name;
  std::string help;
  MetricType type = MetricType::kGauge;
  std::vector<MetricSample> samples;
};

/// Returns families with the values of now. Called by the thread that scrapes; several may scrape
/// at the same time, so it must be thread-safe. It must not call back into its MetricsRegistry.
using MetricsCallback = std::function<std::vector<MetricFamily>()>;

/// The callbacks that together make a /metrics page; it keeps no values itself. Any thread.
class MetricsRegistry {
 public:
  MetricsRegistry() = default;
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  /// Adds a callback for the life of the registry.
  void Register(MetricsCallback callback) PSTRAIN_EXCLUDES(mutex_);

  /// All families in the order of registration; the samples of families with one name and type are
  /// joined under the first. A family of another type than the first of its name is left out.
  std::vector<MetricFamily> Collect() const PSTRAIN_EXCLUDES(mutex_);

  /// Collect() in Prometheus's text format (version 0.0.4).
  std::string Scrape() const PSTRAIN_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::vector<MetricsCallback> callbacks_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
