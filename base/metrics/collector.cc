#include "base/metrics/collector.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace pstrain {
namespace {

prometheus::MetricType ToPrometheus(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric ToPrometheus(MetricType type, MetricSample sample) {
  prometheus::ClientMetric metric;
  metric.label.reserve(sample.labels.size());
  for (MetricLabel& label : sample.labels) {
    metric.label.push_back({std::move(label.name), std::move(label.value)});
  }
  switch (type) {
    case MetricType::kCounter:
      metric.counter.value = sample.value;
      break;
    case MetricType::kGauge:
      metric.gauge.value = sample.value;
      break;
    case MetricType::kHistogram:
      metric.histogram.sample_count = sample.count;
      metric.histogram.sample_sum = sample.value;
      for (const MetricBucket& bucket : sample.buckets) {
        metric.histogram.bucket.push_back({bucket.cumulative_count, bucket.upper_bound});
      }
      break;
  }
  return metric;
}

prometheus::MetricFamily ToPrometheus(MetricFamily family) {
  prometheus::MetricFamily result;
  result.name = std::move(family.name);
  result.help = std::move(family.help);
  result.type = ToPrometheus(family.type);
  result.metric.reserve(family.samples.size());
  for (MetricSample& sample : family.samples) {
    result.metric.push_back(ToPrometheus(family.type, std::move(sample)));
  }
  return result;
}

}  // namespace

void MetricsRegistry::Register(MetricsCallback callback) {
  MutexLock lock(mutex_);
  callbacks_.push_back(std::move(callback));
}

std::vector<MetricFamily> MetricsRegistry::Collect() const {
  std::vector<MetricsCallback> callbacks;
  {
    MutexLock lock(mutex_);
    callbacks = callbacks_;
  }
  std::vector<MetricFamily> families;
  std::unordered_map<std::string, std::size_t> place_of;
  for (const MetricsCallback& callback : callbacks) {
    for (MetricFamily& family : callback()) {
      const auto [place, is_new] = place_of.try_emplace(family.name, families.size());
      if (is_new) {
        families.push_back(std::move(family));
        continue;
      }
      MetricFamily& first = families[place->second];
      if (first.type == family.type) {
        std::move(family.samples.begin(), family.samples.end(), std::back_inserter(first.samples));
      }
    }
  }
  return families;
}

std::string MetricsRegistry::Scrape() const {
  std::vector<prometheus::MetricFamily> families;
  for (MetricFamily& family : Collect()) families.push_back(ToPrometheus(std::move(family)));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace pstrain
