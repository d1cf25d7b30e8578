#include "runtime/stats/stats_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace pstrain {
namespace {

constexpr StatDefinition kSteps{"steps", "pstrain_worker_steps_total", "", "Steps done."};
constexpr StatDefinition kBusy{"busy", "pstrain_ps_busy_seconds_total", "", "Busy."};
constexpr StatDefinition kLoss{"loss", "pstrain_worker_loss", "", "Loss."};

TEST(StatsWriter, WhenSeveralThreadsAdd_LosesNothing) {
  const auto writer = StatsWriter::InMemory();
  Counter* const steps = writer->AddCounter(kSteps);
  SecondsCounter* const busy = writer->AddSeconds(kBusy);
  constexpr int kRounds = 10000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          steps->Add();
          busy->Add(0.5);
        }
      });
    }
  }
  EXPECT_EQ(steps->Value(), 4U * kRounds);
  EXPECT_EQ(busy->Value(), 2.0 * kRounds);
}

TEST(StatsWriter, WhenOpenedOnAnAgentsPage_IsReadByTheAgent) {
  auto page = StatsPage::Create();
  ASSERT_TRUE(page.ok());
  auto writer = StatsWriter::OpenOrInMemory(dup((*page)->fd()));
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  (*writer)->AddCounter(kSteps)->Add(3);
  (*writer)->AddGauge(kLoss)->Set(-0.25);
  writer->reset();

  const auto readings = (*page)->Read();

  ASSERT_TRUE(readings.ok());
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_EQ((*readings)[0].bits, 3U);
  EXPECT_EQ((*readings)[1].AsDouble(), -0.25);
}

TEST(StatsWriter, WhenAHistogramObserves_CountsInTheBucketOfTheBound) {
  static constexpr std::array kBounds{0.00005, 0.25};
  constexpr HistogramDefinition kPull{
      {"pull", "pstrain_worker_rpc_duration_seconds", R"(method="pull")", "Time."}, kBounds};
  const auto writer = StatsWriter::InMemory();
  Histogram* const histogram = writer->AddHistogram(kPull);
  for (const double value : {0.00005, 0.25, 0.25, 0.5}) histogram->Observe(value);

  const auto readings = writer->page()->Read();

  ASSERT_TRUE(readings.ok());
  ASSERT_EQ(readings->size(), 4U);
  const std::array<std::string, 3> bounds = {"5e-05", "0.25", "+Inf"};
  const std::array<std::uint64_t, 3> counts = {1, 2, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*readings)[i].kind, StatKind::kHistogramBucket);
    EXPECT_EQ((*readings)[i].labels, "method=\"pull\",le=\"" + bounds[i] + "\"");
    EXPECT_EQ((*readings)[i].bits, counts[i]) << bounds[i];
  }
  EXPECT_EQ((*readings)[3].kind, StatKind::kHistogramSum);
  EXPECT_EQ((*readings)[3].labels, R"(method="pull")");
  EXPECT_DOUBLE_EQ((*readings)[3].AsDouble(), 1.00005);
}

TEST(StatsWriter, WhenAHistogramIsAddedTwice_SharesItsCells) {
  static constexpr std::array kBounds{1.0};
  constexpr HistogramDefinition kDuration{{"step", "pstrain_step_seconds", "", "Time."}, kBounds};
  const auto writer = StatsWriter::InMemory();
  writer->AddHistogram(kDuration)->Observe(0.5);
  writer->AddHistogram(kDuration)->Observe(0.5);
  const auto readings = writer->page()->Read();
  ASSERT_EQ(readings->size(), 3U);
  EXPECT_EQ((*readings)[0].bits, 2U);
}

TEST(StatsWriter, WhenAKeyIsAddedTwice_SharesTheCell) {
  const auto writer = StatsWriter::InMemory();
  writer->AddCounter(kSteps)->Add(1);
  EXPECT_EQ(writer->AddCounter(kSteps)->Value(), 1U);
  EXPECT_EQ(writer->page()->Read()->size(), 1U);
}

TEST(StatsWriter, WhenOpenedOnAPageInUse_GoesOnInItsSlots) {
  auto page = StatsPage::Create();
  ASSERT_TRUE(page.ok());
  (*StatsWriter::Open(dup((*page)->fd())))->AddCounter(kSteps)->Add(2);
  (*StatsWriter::Open(dup((*page)->fd())))->AddCounter(kSteps)->Add(3);
  ASSERT_EQ((*page)->Read()->size(), 1U);
  EXPECT_EQ((*page)->Read()->front().bits, 5U);
}

TEST(StatsWriter, WhenAKeyExistsWithAnotherType_CountsInPrivate) {
  const auto writer = StatsWriter::InMemory();
  writer->AddCounter(kSteps)->Add(1);
  Gauge* const gauge = writer->AddGauge(kSteps);
  gauge->Set(9);
  EXPECT_EQ(gauge->Value(), 9);
  EXPECT_EQ(writer->dropped(), 1U);
  EXPECT_EQ(writer->page()->Read()->front().bits, 1U);
}

TEST(StatsWriter, UnsetGauges_AreNeverReadAsZero) {
  constexpr int kGauges = 400;
  const auto writer = StatsWriter::InMemory();
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load()) {
      const auto readings = writer->page()->Read();
      ASSERT_TRUE(readings.ok());
      for (const StatReading& reading : *readings) EXPECT_NE(reading.bits, 0U) << reading.key;
    }
  });
  for (int i = 0; i < kGauges; ++i) {
    const std::string key = "gauge" + std::to_string(i);
    EXPECT_TRUE(std::isnan(writer->AddUnsetGauge({key, "gauge", "", "A gauge."})->Value()));
  }
  done.store(true);
  reader.join();
  EXPECT_EQ(writer->dropped(), 0U);
}

TEST(StatsWriter, WhenThePageIsFull_StillCounts) {
  auto page = StatsPage::Create(1);
  ASSERT_TRUE(page.ok());
  auto writer = StatsWriter::Open(dup((*page)->fd()));
  ASSERT_TRUE(writer.ok());
  (*writer)->AddCounter(kSteps);
  Gauge* const loss = (*writer)->AddGauge(kLoss);
  loss->Set(4);
  EXPECT_EQ(loss->Value(), 4);
  EXPECT_EQ((*writer)->dropped(), 1U);
}

TEST(StatsWriter, WhenTheDescriptorIsBad_SaysSo) {
  EXPECT_FALSE(StatsWriter::Open(9999).ok());
  EXPECT_TRUE(StatsWriter::OpenOrInMemory(-1).ok());
}

}  // namespace
}  // namespace pstrain
