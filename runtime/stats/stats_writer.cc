#include "runtime/stats/stats_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <utility>

namespace pstrain {
namespace {

/// The shortest text that reads as the number.
std::string BoundText(double bound) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), bound).ptr;
  return {text.data(), end};
}

}  // namespace

void SecondsCounter::Add(double seconds) {
  std::atomic_ref<std::uint64_t> cell(*cell_);
  std::uint64_t seen = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(
      seen, std::bit_cast<std::uint64_t>(std::bit_cast<double>(seen) + seconds),
      std::memory_order_relaxed)) {
  }
}

void Histogram::Observe(double value) {
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  buckets_[static_cast<std::size_t>(at - bounds_.begin())].Add();
  sum_.Add(value);
}

Result<std::unique_ptr<StatsWriter>> StatsWriter::Open(int stats_fd) {
  PSTRAIN_ASSIGN_OR_RETURN(auto page, StatsPage::Map(stats_fd));
  return std::unique_ptr<StatsWriter>(new StatsWriter(std::move(page)));
}

std::unique_ptr<StatsWriter> StatsWriter::InMemory() {
  auto page = StatsPage::Private();
  return std::unique_ptr<StatsWriter>(
      new StatsWriter(page.ok() ? std::move(page).value() : nullptr));
}

Result<std::unique_ptr<StatsWriter>> StatsWriter::OpenOrInMemory(int stats_fd) {
  if (stats_fd < 0) return InMemory();
  return Open(stats_fd);
}

StatsWriter::StatsWriter(std::unique_ptr<StatsPage> page) : page_(std::move(page)) {
  if (page_ == nullptr) return;
  // A program that was exec'd by an earlier one continues in the slots that are there.
  const auto readings = page_->Read();
  if (!readings.ok()) return;
  for (const StatReading& reading : *readings) {
    slots_.try_emplace(reading.key,
                       Slot{reading.type, reading.kind, page_->Cell(reading.value_offset)});
  }
}

std::uint64_t* StatsWriter::CellFor(const StatDefinition& definition, StatType type, StatKind kind,
                                    std::uint64_t bits) {
  const auto found = slots_.find(definition.key);
  if (found != slots_.end()) {
    if (found->second.type == type && found->second.kind == kind) return found->second.cell;
  } else if (page_ != nullptr) {
    const auto cell = page_->Append(definition, type, kind, bits);
    if (cell.ok()) {
      slots_.emplace(definition.key, Slot{type, kind, *cell});
      return *cell;
    }
  }
  ++dropped_;
  return &orphans_.emplace_back(bits);
}

Counter* StatsWriter::AddCounter(const StatDefinition& definition) {
  const MutexLock lock(mutex_);
  return &counters_.emplace_back(CellFor(definition, StatType::kU64, StatKind::kCounter));
}

SecondsCounter* StatsWriter::AddSeconds(const StatDefinition& definition) {
  const MutexLock lock(mutex_);
  return &seconds_.emplace_back(CellFor(definition, StatType::kDouble, StatKind::kCounter));
}

Gauge* StatsWriter::AddGauge(const StatDefinition& definition) {
  const MutexLock lock(mutex_);
  return &gauges_.emplace_back(CellFor(definition, StatType::kDouble, StatKind::kGauge));
}

Gauge* StatsWriter::AddUnsetGauge(const StatDefinition& definition) {
  constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();
  const MutexLock lock(mutex_);
  Gauge& gauge = gauges_.emplace_back(CellFor(definition, StatType::kDouble, StatKind::kGauge,
                                              std::bit_cast<std::uint64_t>(kUnset)));
  gauge.Set(kUnset);  // also where an earlier program had a value
  return &gauge;
}

Histogram* StatsWriter::AddHistogram(const HistogramDefinition& definition) {
  const StatDefinition& stat = definition.stat;
  const MutexLock lock(mutex_);
  std::vector<Counter> buckets;
  const auto add_bucket = [&](const std::string& bound,
                              const std::string& key) PSTRAIN_REQUIRES(mutex_) {
    const std::string bucket_key = std::string(stat.key) + ".le." + key;
    const std::string labels = std::string(stat.labels) + (stat.labels.empty() ? "" : ",") +
                               std::string(kStatBucketLabel) + "=\"" + bound + "\"";
    buckets.emplace_back(CellFor({bucket_key, stat.name, labels, stat.help}, StatType::kU64,
                                 StatKind::kHistogramBucket));
  };
  for (const double bound : definition.bounds) add_bucket(BoundText(bound), BoundText(bound));
  add_bucket("+Inf", "inf");
  const std::string sum_key = std::string(stat.key) + ".sum";
  const SecondsCounter sum(CellFor({sum_key, stat.name, stat.labels, stat.help}, StatType::kDouble,
                                   StatKind::kHistogramSum));
  return &histograms_.emplace_back(definition.bounds, std::move(buckets), sum);
}

std::uint64_t StatsWriter::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

}  // namespace pstrain
