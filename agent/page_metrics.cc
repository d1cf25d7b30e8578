#include "agent/page_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/parse_number.h"

namespace pstrain {
namespace {

using Labels = std::vector<MetricLabel>;

MetricType TypeOf(StatKind kind) {
  switch (kind) {
    case StatKind::kCounter:
      return MetricType::kCounter;
    case StatKind::kGauge:
      return MetricType::kGauge;
    case StatKind::kHistogramBucket:
    case StatKind::kHistogramSum:
      break;
  }
  return MetricType::kHistogram;
}

/// The slot's labels that do not shadow ours, then ours.
Labels SlotLabels(const StatReading& reading, const Labels& ours) {
  Labels labels;
  auto own = ParseStatLabels(reading.labels);
  if (own) {
    for (auto& [name, value] : *own) {
      const bool taken = std::any_of(ours.begin(), ours.end(),
                                     [&](const MetricLabel& l) { return l.name == name; });
      if (!taken) labels.push_back({std::move(name), std::move(value)});
    }
  }
  labels.insert(labels.end(), ours.begin(), ours.end());
  return labels;
}

/// Takes the bound of a bucket off its labels. Nothing when there is none that is a number.
std::optional<double> TakeBound(Labels& labels) {
  const auto at = std::find_if(labels.begin(), labels.end(),
                               [](const MetricLabel& l) { return l.name == kStatBucketLabel; });
  if (at == labels.end()) return std::nullopt;
  const std::string text = std::move(at->value);
  labels.erase(at);
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  const auto bound = ParseNumber<double>(text);
  return bound && std::isfinite(*bound) ? bound : std::nullopt;
}

/// The sample of a histogram to which a slot with these labels belongs.
MetricSample& SampleOf(MetricFamily& family, Labels labels) {
  const auto same = [&labels](const MetricSample& sample) {
    return std::equal(sample.labels.begin(), sample.labels.end(), labels.begin(), labels.end(),
                      [](const MetricLabel& a, const MetricLabel& b) {
                        return a.name == b.name && a.value == b.value;
                      });
  };
  const auto found = std::find_if(family.samples.begin(), family.samples.end(), same);
  if (found != family.samples.end()) return *found;
  family.samples.emplace_back().labels = std::move(labels);
  return family.samples.back();
}

void AddHistogramSlot(const StatReading& reading, Labels labels, MetricFamily& family) {
  if (reading.kind == StatKind::kHistogramSum) {
    SampleOf(family, std::move(labels)).value = reading.AsDouble();
    return;
  }
  const std::optional<double> bound = TakeBound(labels);
  if (!bound || reading.type != StatType::kU64) return;
  SampleOf(family, std::move(labels)).buckets.push_back({*bound, reading.bits});
}

/// From counts of each bucket to those of all up to it.
void Accumulate(MetricSample& sample) {
  std::sort(
      sample.buckets.begin(), sample.buckets.end(),
      [](const MetricBucket& a, const MetricBucket& b) { return a.upper_bound < b.upper_bound; });
  for (MetricBucket& bucket : sample.buckets) {
    sample.count += bucket.cumulative_count;
    bucket.cumulative_count = sample.count;
  }
}

}  // namespace

void AppendPageMetrics(const StatsPage& page, const Labels& ours,
                       std::vector<MetricFamily>& families) {
  auto readings = page.Read();
  if (!readings.ok()) return;
  const std::size_t first = families.size();
  std::map<std::string_view, std::size_t> family_of;
  for (const StatReading& reading : *readings) {
    const MetricType type = TypeOf(reading.kind);
    const auto [at, is_new] = family_of.try_emplace(reading.name, families.size());
    if (is_new) families.push_back({reading.name, reading.help, type, {}});
    MetricFamily& family = families[at->second];
    if (family.type != type) continue;
    Labels labels = SlotLabels(reading, ours);
    if (type == MetricType::kHistogram) {
      AddHistogramSlot(reading, std::move(labels), family);
    } else {
      MetricSample& sample = family.samples.emplace_back();
      sample.labels = std::move(labels);
      sample.value = reading.AsDouble();
    }
  }
  for (std::size_t i = first; i < families.size(); ++i) {
    if (families[i].type != MetricType::kHistogram) continue;
    for (MetricSample& sample : families[i].samples) Accumulate(sample);
  }
}

}  // namespace pstrain
