#include "runtime/chief/disk/score_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/checkpoint/evaluations.h"

namespace pstrain {
namespace {

using Better = ScoreRule::Better;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
const ScoreRule kAuc{"auc", Better::kHigher};
const ScoreRule kLoss{"log_loss", Better::kLower};

ScoredCheckpoint Scored(int number, double auc, std::int64_t examples = -1) {
  ScoredCheckpoint scored;
  scored.set_checkpoint("1-" + std::to_string(number));
  scored.set_examples_committed(examples < 0 ? 100 * number : examples);
  (*scored.mutable_metrics())["auc"] = auc;
  (*scored.mutable_metrics())["log_loss"] = 1 - auc;
  return scored;
}

RunEvaluations Of(const std::vector<double>& values, const ScoreRule& rule = kAuc) {
  RunEvaluations evaluations;
  int number = 0;
  for (const double value : values) AddEvaluation(Scored(++number, value), rule, evaluations);
  return evaluations;
}

std::uint32_t WaitedAfter(const std::vector<double>& values, double min_delta = 0) {
  return WaitedIn(Of(values), {kAuc, 3, min_delta}).evaluations;
}

TEST(ScoreRule, TheDirectionFollowsFromTheMetric) {
  EXPECT_GT(kAuc.Gain(0.8, 0.7), 0);
  EXPECT_LT(kLoss.Gain(0.8, 0.7), 0);
  const ScoreRule calibration{"calibration", Better::kCloserToOne};
  EXPECT_GT(calibration.Gain(1.1, 0.8), 0);
  EXPECT_GT(calibration.Gain(0.9, 1.2), 0);
  EXPECT_LT(calibration.Gain(1.3, 0.8), 0);
}

TEST(Best, IsTheBestByItsMetricAndOfEqualOnesTheFirst) {
  EXPECT_EQ(Of({0.5, 0.75, 0.75, 0.7}).best().checkpoint(), "1-2");
  EXPECT_EQ(Of({0.5, 0.75, 0.75, 0.7}, kLoss).best().checkpoint(), "1-2");
  EXPECT_EQ(Of({0.5, 0.75}, kLoss).best_metric(), "log_loss");
}

TEST(Best, WhenAValueIsNotFiniteOrAbsent_IsNotThatOne) {
  EXPECT_EQ(Of({kNaN, 0.5, kInfinite, kNaN}).best().checkpoint(), "1-2");
  EXPECT_FALSE(Of({kNaN, kNaN}).has_best());
  EXPECT_FALSE(Of({0.5}, {"accuracy", Better::kHigher}).has_best());
}

TEST(Best, WithoutARule_IsNotKept) {
  RunEvaluations evaluations = Of({0.5, 0.6});
  AddEvaluation(Scored(3, 0.4), std::nullopt, evaluations);
  EXPECT_FALSE(evaluations.has_best());
  EXPECT_EQ(evaluations.history_size(), 3);
}

TEST(Best, WhenTheMetricIsAnotherOneNow_BeginsAnew) {
  RunEvaluations evaluations = Of({0.9, 0.6});
  AddEvaluation(Scored(3, 0.7), kLoss, evaluations);
  EXPECT_EQ(evaluations.best().checkpoint(), "1-3");
}

TEST(History, WhenTheSameIsEvaluatedAgain_CountsOnce) {
  RunEvaluations evaluations = Of({0.5, 0.6});
  AddEvaluation(Scored(2, 0.6), kAuc, evaluations);
  EXPECT_EQ(evaluations.history_size(), 2);
  // What was restored, and saved again before anything was trained.
  AddEvaluation(Scored(3, 0.6, 200), kAuc, evaluations);
  EXPECT_EQ(evaluations.history_size(), 2);
  EXPECT_EQ(evaluations.best().checkpoint(), "1-2");
  EXPECT_EQ(WaitedIn(evaluations, {kAuc, 3, 0}).evaluations, 0u);
}

TEST(History, IsBounded) {
  RunEvaluations evaluations;
  evaluations.set_not_counted(2);
  for (int i = 1; i <= kMostEvaluations + 5; ++i) {
    AddEvaluation(Scored(i, 1.0 / i), kAuc, evaluations);
  }
  EXPECT_EQ(evaluations.history_size(), kMostEvaluations);
  EXPECT_EQ(evaluations.history(0).checkpoint(), "1-6");
  EXPECT_EQ(evaluations.best().checkpoint(), "1-1");
  EXPECT_EQ(evaluations.not_counted(), 0u);
}

TEST(Waited, CountsEvaluationsInARowThatAreNotBetter) {
  EXPECT_EQ(WaitedAfter({}), 0u);
  EXPECT_EQ(WaitedAfter({0.5}), 0u);
  EXPECT_EQ(WaitedAfter({0.5, 0.4, 0.5}), 2u);
  EXPECT_EQ(WaitedAfter({0.5, 0.4, 0.6}), 0u);
  EXPECT_EQ(WaitedAfter({0.5, 0.4, 0.6, 0.6}), 1u);
}

TEST(Waited, WhenItIsBetterByLittle_ThatIsNotBetter) {
  EXPECT_EQ(WaitedAfter({0.5, 0.55, 0.6}, 0.25), 2u);
  EXPECT_EQ(WaitedAfter({0.5, 0.625}, 0.125), 1u);
  EXPECT_EQ(WaitedAfter({0.5, 0.625, 0.75}, 0.125), 0u);
  EXPECT_EQ(WaitedAfter({0.5, 0.625, 0.8125}, 0.25), 0u);
}

// As in Keras: a value that is not a number is no reason to wait longer.
TEST(Waited, WhenAValueIsNotFinite_CountsOn) {
  EXPECT_EQ(WaitedAfter({kNaN, kNaN}), 2u);
  EXPECT_EQ(WaitedAfter({0.5, kNaN, kInfinite}), 2u);
  EXPECT_EQ(WaitedAfter({kNaN, 0.5}), 0u);
}

TEST(Waited, WhenTheRunHasGoneOnWithMoreEpochs_CountsFromThere) {
  RunEvaluations evaluations = Of({0.9, 0.5, 0.5});
  evaluations.set_not_counted(3);
  EXPECT_EQ(WaitedIn(evaluations, {kAuc, 3, 0}).evaluations, 0u);
  AddEvaluation(Scored(4, 0.6), kAuc, evaluations);
  const Waited waited = WaitedIn(evaluations, {kAuc, 3, 0});
  EXPECT_EQ(waited.evaluations, 0u);
  EXPECT_EQ(waited.best->checkpoint(), "1-4");
  EXPECT_EQ(evaluations.best().checkpoint(), "1-1");
}

}  // namespace
}  // namespace pstrain
