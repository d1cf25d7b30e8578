#include "library/coordinator/metric_table.h"

namespace pstrain {

void MetricTable::Add(std::uint64_t closure, const std::vector<MetricSum>& sums,
                      std::uint64_t settled) {
  const MutexLock lock(mutex_);
  for (const MetricSum& sum : sums) {
    Metric& metric = metrics_[sum.name];
    if (closure >= metric.from) metric.waiting[closure] = sum;
  }
  for (auto& [name, metric] : metrics_) {
    while (!metric.waiting.empty() && metric.waiting.begin()->first < settled) {
      metric.numerator += metric.waiting.begin()->second.numerator;
      metric.denominator += metric.waiting.begin()->second.denominator;
      metric.waiting.erase(metric.waiting.begin());
    }
  }
}

MetricSum MetricTable::Get(const std::string& name) const {
  const MutexLock lock(mutex_);
  MetricSum sum{.name = name};
  const auto found = metrics_.find(name);
  if (found == metrics_.end()) return sum;
  sum.numerator = found->second.numerator;
  sum.denominator = found->second.denominator;
  for (const auto& [closure, waiting] : found->second.waiting) {
    sum.numerator += waiting.numerator;
    sum.denominator += waiting.denominator;
  }
  return sum;
}

std::vector<MetricSum> MetricTable::All() const {
  const MutexLock lock(mutex_);
  std::vector<MetricSum> sums;
  sums.reserve(metrics_.size());
  for (const auto& [name, metric] : metrics_) {
    sums.push_back(
        {.name = name, .numerator = metric.numerator, .denominator = metric.denominator});
  }
  return sums;
}

void MetricTable::Restore(const std::vector<MetricSum>& sums) {
  const MutexLock lock(mutex_);
  for (const MetricSum& sum : sums) {
    metrics_[sum.name] = {.numerator = sum.numerator, .denominator = sum.denominator};
  }
}

void MetricTable::Reset(const std::string& name, std::uint64_t from) {
  const MutexLock lock(mutex_);
  metrics_[name] = {.from = from};
}

}  // namespace pstrain
