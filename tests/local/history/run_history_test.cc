#include "local/history/run_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pstrain::local {
namespace {

AgentReading Reading(double steps, std::map<std::string, double, std::less<>> more = {}) {
  AgentReading reading;
  reading.values = std::move(more);
  reading.values.insert({{"steps", steps},
                         {"examples_committed", steps * 10},
                         {"examples_expected", 1000},
                         {"loss", 1 / (1 + steps)}});
  return reading;
}

class RunHistoryTest : public testing::Test {
 protected:
  RunHistoryTest() : history_(5, 100) {
    history_.AddSink([this](const HistoryPoint& point) { points_.push_back(point); });
  }
  std::size_t Count(PointKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(points_.begin(), points_.end(),
                      [kind](const HistoryPoint& point) { return point.kind == kind; }));
  }

  RunHistory history_;
  std::vector<HistoryPoint> points_;
};

TEST_F(RunHistoryTest, OfProgress_TakesAPointForEachInterval) {
  for (int i = 0; i < 100; ++i) history_.Observe(Reading(i + 1), i * 0.0625);
  EXPECT_EQ(Count(PointKind::kProgress), 25U);
  EXPECT_DOUBLE_EQ(points_[0].seconds, 100);
  EXPECT_DOUBLE_EQ(points_[0].epoch, 0.05);
  EXPECT_EQ(points_[0].examples, 10);
}

TEST_F(RunHistoryTest, WhereNothingMoves_TakesNoPoint) {
  for (int i = 0; i < 10; ++i) history_.Observe(Reading(1), i);
  EXPECT_EQ(points_.size(), 1U);
}

TEST_F(RunHistoryTest, OfDays_TakesThousandsOfPoints) {
  for (int i = 0; i < 2'000'000; ++i) history_.Observe(Reading(i + 1), i * 0.2);
  EXPECT_LT(points_.size(), 30'000U);
}

TEST_F(RunHistoryTest, EachEvaluation_IsAPointOfItsOwnAndTheBestIsKnown) {
  history_.Observe(Reading(10, {{"auc", 0.7}, {"log_loss", 0.5}, {"calibration", 1.5}}), 1);
  history_.Observe(Reading(11, {{"auc", 0.7}, {"log_loss", 0.5}, {"calibration", 1.5}}), 1.1);
  history_.Observe(Reading(20, {{"auc", 0.9}, {"log_loss", 0.6}, {"calibration", 0.9}}), 2);
  history_.Finish(*ParseJson(R"({"auc":0.8,"log_loss":0.55,"accuracy":null,)"
                             R"("examples_committed":1000,"examples_expected":1000})"),
                  3);
  EXPECT_EQ(Count(PointKind::kEvaluation), 3U);
  EXPECT_EQ(points_.back().examples, 1000);
  EXPECT_DOUBLE_EQ(points_.back().epoch, 5);
  EXPECT_DOUBLE_EQ(history_.Best("auc")->first, 0.9);
  EXPECT_EQ(history_.Best("auc")->second.steps, 20);
  EXPECT_DOUBLE_EQ(history_.Best("log_loss")->first, 0.5);
  EXPECT_DOUBLE_EQ(history_.Best("calibration")->first, 0.9);
  EXPECT_FALSE(history_.Best("accuracy").has_value());
  EXPECT_EQ(history_.Last("auc"), 0.8);
}

TEST_F(RunHistoryTest, TheResultOfTheLastEvaluation_IsNoOtherOne) {
  history_.Observe(Reading(10, {{"auc", 0.7}}), 1);
  history_.Finish(*ParseJson(R"({"auc":0.7,"examples_committed":1000})"), 3);
  EXPECT_EQ(Count(PointKind::kEvaluation), 1U);
}

}  // namespace
}  // namespace pstrain::local
