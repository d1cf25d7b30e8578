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

MetricSum MetricTable::SumOf(const std::string& name, const Metric& metric) {
  MetricSum sum{.name = name, .numerator = metric.numerator, .denominator = metric.denominator};
  for (const auto& [closure, waiting] : metric.waiting) {
    sum.numerator += waiting.numerator;
    sum.denominator += waiting.denominator;
  }
  return sum;
}

MetricSum MetricTable::Get(const std::string& name) const {
  const MutexLock lock(mutex_);
  const auto found = metrics_.find(name);
  return found == metrics_.end() ? MetricSum{.name = name} : SumOf(name, found->second);
}

std::vector<MetricSum> MetricTable::All() const {
  const MutexLock lock(mutex_);
  std::vector<MetricSum> sums;
  sums.reserve(metrics_.size());
  // What has waited for one that has failed waits still.
  for (const auto& [name, metric] : metrics_) sums.push_back(SumOf(name, metric));
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
