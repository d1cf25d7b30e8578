#include "runtime/evaluator/metric_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace pstrain {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr MetricValues kValues{.records = 10,
                               .auc = 0.9,
                               .auc_200_thresholds = 0.89,
                               .accuracy = 0.8,
                               .log_loss = 0.4,
                               .calibration = 1.1};

TEST(ReportedMetrics, WhenTheJobListsSome_ReportsThese) {
  Evaluation evaluation;
  evaluation.add_metrics(Evaluation::calibration);
  EXPECT_THAT(
      ReportedMetrics(kValues, evaluation),
      UnorderedElementsAre(Pair("records", 10), Pair("eval_loss", 0.4), Pair("calibration", 1.1)));
}

TEST(ReportedMetrics, WhenTheJobListsAll_ReportsAll) {
  Evaluation evaluation;
  for (int metric = Evaluation::Metric_MIN + 1; metric <= Evaluation::Metric_MAX; ++metric) {
    evaluation.add_metrics(static_cast<Evaluation::Metric>(metric));
  }
  EXPECT_THAT(ReportedMetrics(kValues, evaluation),
              UnorderedElementsAre(Pair("records", 10), Pair("eval_loss", 0.4), Pair("auc", 0.9),
                                   Pair("auc_200_thresholds", 0.89), Pair("accuracy", 0.8),
                                   Pair("log_loss", 0.4), Pair("calibration", 1.1)));
}

TEST(ReportedMetrics, WhenTheRecordsAreOfOneClass_HasNoAuc) {
  Evaluation evaluation;
  evaluation.add_metrics(Evaluation::auc);
  EXPECT_THAT(ReportedMetrics({.records = 10, .log_loss = 0.4}, evaluation),
              UnorderedElementsAre(Pair("records", 10), Pair("eval_loss", 0.4)));
}

TEST(ReportedMetrics, WhenTheJobListsNone_KeepsWhatTheRunNeeds) {
  EXPECT_THAT(ReportedMetrics(kValues, Evaluation()),
              UnorderedElementsAre(Pair("records", 10), Pair("eval_loss", 0.4)));
}

TEST(CheckScores, WhenAScoreIsNotANumber_NamesTheCheckpointAndHowMany) {
  BinaryMetrics metrics;
  metrics.Add(std::vector<float>{0.25F, 0.75F}, std::vector<float>{0, 1});
  EXPECT_TRUE(CheckScores(metrics, "1-3").ok());
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  metrics.Add(std::vector<float>{kNaN, 0.5F, kNaN}, std::vector<float>{0, 1, 1});
  const Status status = CheckScores(metrics, "1-3");
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(),
              testing::HasSubstr("checkpoint 1-3: 2 of 5 scores are not numbers; "));
}

}  // namespace
}  // namespace pstrain
