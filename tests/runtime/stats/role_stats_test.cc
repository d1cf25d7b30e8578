#include "runtime/stats/role_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

namespace pstrain {
namespace {

void ExpectWellFormed(const StatsWriter& writer, std::size_t expected_slots) {
  EXPECT_EQ(writer.dropped(), 0U);
  const auto readings = writer.page()->Read();
  ASSERT_TRUE(readings.ok());
  EXPECT_EQ(readings->size(), expected_slots);
  std::set<std::string> series;
  const auto family = [](StatKind kind) {
    return kind == StatKind::kHistogramSum ? StatKind::kHistogramBucket : kind;
  };
  std::map<std::string, StatKind> kinds;
  for (const StatReading& reading : *readings) {
    EXPECT_TRUE(series.insert(reading.name + "{" + reading.labels + "}").second) << reading.name;
    const StatKind kind = family(reading.kind);
    EXPECT_EQ(kinds.try_emplace(reading.name, kind).first->second, kind);
    EXPECT_TRUE(reading.name.starts_with("pstrain_")) << reading.name;
    EXPECT_EQ(reading.kind == StatKind::kCounter, reading.name.ends_with("_total")) << reading.name;
    EXPECT_FALSE(reading.help.empty()) << reading.name;
  }
}

TEST(RoleStats, WhenAWorkerRegisters_EverySlotIsWellFormed) {
  const auto writer = StatsWriter::InMemory();
  const RuntimeStats runtime(*writer);
  const PeerStats peer(*writer);
  const WorkerStats worker(*writer);
  constexpr std::size_t kPlain = 21;
  constexpr std::size_t kHistograms = 4;
  constexpr std::size_t kSlotsOfOne = 16;  // 14 bounds, one without, the sum
  ExpectWellFormed(*writer, kPlain + kHistograms * kSlotsOfOne);
  EXPECT_TRUE(std::isnan(worker.loss->Value()));
}

TEST(RoleStats, WhenAPsRegisters_EverySlotIsWellFormed) {
  const auto writer = StatsWriter::InMemory();
  const RuntimeStats runtime(*writer);
  const PeerStats peer(*writer);
  const PsStats ps(*writer);
  ExpectWellFormed(*writer, 15);
}

TEST(RoleStats, WhenAnEvaluatorRegisters_EverySlotIsWellFormed) {
  const auto writer = StatsWriter::InMemory();
  const RuntimeStats runtime(*writer);
  const PeerStats peer(*writer);
  const EvaluatorStats evaluator(*writer);
  ExpectWellFormed(*writer, 4);
}

TEST(RoleStats, WhenAChiefRegisters_EverySlotIsWellFormed) {
  const auto writer = StatsWriter::InMemory();
  const RuntimeStats runtime(*writer);
  const ChiefStats chief(*writer);
  ExpectWellFormed(*writer, 62);
  EXPECT_TRUE(std::isnan(chief.auc->Value()));
}

}  // namespace
}  // namespace pstrain
