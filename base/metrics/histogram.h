#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/metrics/collector.h"
#include "base/mutex.h"

namespace pstrain {

/// Counts durations in buckets of 1 ms doubling to 524 s, for a histogram in seconds. Any thread;
/// the owner turns it into a sample at a scrape.
class DurationHistogram {
 public:
  void Observe(std::chrono::nanoseconds duration) PSTRAIN_EXCLUDES(mutex_);

  /// Buckets, sum in seconds and count, with these labels.
  MetricSample Sample(std::vector<MetricLabel> labels) const PSTRAIN_EXCLUDES(mutex_);

  std::uint64_t count() const PSTRAIN_EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kBounds = 20;
  static constexpr double kFirstBoundSeconds = 0.001;

  mutable Mutex mutex_;
  std::array<std::uint64_t, kBounds + 1> counts_ PSTRAIN_GUARDED_BY(mutex_){};
  double sum_seconds_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace pstrain
