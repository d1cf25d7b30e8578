#include "base/metrics/histogram.h"

#include <limits>
#include <utility>

namespace pstrain {

void DurationHistogram::Observe(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  std::size_t bucket = 0;
  double bound = kFirstBoundSeconds;
  while (bucket < kBounds && seconds > bound) {
    ++bucket;
    bound *= 2;
  }
  const MutexLock lock(mutex_);
  ++counts_[bucket];
  sum_seconds_ += seconds;
}

MetricSample DurationHistogram::Sample(std::vector<MetricLabel> labels) const {
  MetricSample sample;
  sample.labels = std::move(labels);
  const MutexLock lock(mutex_);
  double bound = kFirstBoundSeconds;
  for (const std::uint64_t count : counts_) {
    sample.count += count;
    const bool last = sample.buckets.size() == kBounds;
    sample.buckets.push_back(
        {last ? std::numeric_limits<double>::infinity() : bound, sample.count});
    bound *= 2;
  }
  sample.value = sum_seconds_;
  return sample;
}

std::uint64_t DurationHistogram::count() const {
  const MutexLock lock(mutex_);
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts_) total += count;
  return total;
}

}  // namespace pstrain
