#include "runtime/stats/stats_writer.h"

#include <utility>

namespace pstrain {

void SecondsCounter::Add(double seconds) {
  std::atomic_ref<std::uint64_t> cell(*cell_);
  std::uint64_t seen = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(
      seen, std::bit_cast<std::uint64_t>(std::bit_cast<double>(seen) + seconds),
      std::memory_order_relaxed)) {
  }
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
  // A program that was exec'd by an earlier one goes on in the slots that are there.
  const auto readings = page_->Read();
  if (!readings.ok()) return;
  for (const StatReading& reading : *readings) {
    slots_.try_emplace(reading.key,
                       Slot{reading.type, reading.kind, page_->Cell(reading.value_offset)});
  }
}

std::uint64_t* StatsWriter::CellFor(const StatDefinition& definition, StatType type,
                                    StatKind kind) {
  const auto found = slots_.find(definition.key);
  if (found != slots_.end()) {
    if (found->second.type == type && found->second.kind == kind) return found->second.cell;
  } else if (page_ != nullptr) {
    const auto cell = page_->Append(definition, type, kind);
    if (cell.ok()) {
      slots_.emplace(definition.key, Slot{type, kind, *cell});
      return *cell;
    }
  }
  ++dropped_;
  return &orphans_.emplace_back(0);
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

std::uint64_t StatsWriter::dropped() const {
  const MutexLock lock(mutex_);
  return dropped_;
}

}  // namespace pstrain
