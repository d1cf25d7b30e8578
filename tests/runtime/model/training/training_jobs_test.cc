#include "runtime/model/training/training_jobs.h"

#include <gtest/gtest.h>

#include <chrono>

#include "proto/job/fixed_fields.h"

namespace pstrain {
namespace {

TEST(ChiefJobOf, WithoutAnEvaluation_HasNeitherDeadlineNorDigest) {
  PSTrainingJob job;
  job.mutable_spec()->mutable_training()->set_epochs(3);
  const ChiefJob chief = ChiefJobOf(job);
  EXPECT_EQ(chief.epochs, 3U);
  EXPECT_FALSE(chief.evaluation_deadline);
  EXPECT_FALSE(chief.evaluation_digest);
}

TEST(ChiefJobOf, TheDigestTellsEvaluationsApartAndNotTheirDeadlines) {
  PSTrainingJob job;
  Evaluation& evaluation = *job.mutable_spec()->mutable_training()->mutable_evaluation();
  evaluation.mutable_input()->mutable_csv()->add_files("day-1.csv");
  evaluation.set_deadline_seconds(7);
  const ChiefJob first = ChiefJobOf(job);
  EXPECT_EQ(first.evaluation_deadline, std::chrono::seconds(7));
  ASSERT_TRUE(first.evaluation_digest);
  EXPECT_EQ(*first.evaluation_digest, EvaluationDigest(job.spec().training()));
  evaluation.set_deadline_seconds(8);
  EXPECT_EQ(ChiefJobOf(job).evaluation_digest, first.evaluation_digest);
  evaluation.mutable_input()->mutable_csv()->set_files(0, "day-2.csv");
  EXPECT_NE(ChiefJobOf(job).evaluation_digest, first.evaluation_digest);
}

TEST(ChiefJobOf, TheDirectionOfAScoreFollowsFromItsMetric) {
  PSTrainingJob job;
  Training& training = *job.mutable_spec()->mutable_training();
  training.mutable_evaluation();
  const auto better = [&](Evaluation::Metric metric) {
    training.mutable_checkpoint()->mutable_keep_best()->set_metric(metric);
    return ChiefJobOf(job).keep_best->better;
  };
  EXPECT_EQ(better(Evaluation::auc), ScoreRule::Better::kHigher);
  EXPECT_EQ(better(Evaluation::accuracy), ScoreRule::Better::kHigher);
  EXPECT_EQ(better(Evaluation::logLoss), ScoreRule::Better::kLower);
  EXPECT_EQ(better(Evaluation::calibration), ScoreRule::Better::kCloserToOne);
}

TEST(ChiefJobOf, EarlyStoppingKeepsTheBestByItsMetricUnlessTheJobSaysAnother) {
  PSTrainingJob job;
  Training& training = *job.mutable_spec()->mutable_training();
  EXPECT_FALSE(ChiefJobOf(job).early_stopping);
  EXPECT_FALSE(ChiefJobOf(job).keep_best);
  training.mutable_evaluation();
  EarlyStopping& stopping = *training.mutable_early_stopping();
  stopping.set_metric(Evaluation::logLoss);
  stopping.set_patience(4);
  stopping.set_min_delta(0.5);
  const ChiefJob chief = ChiefJobOf(job);
  EXPECT_EQ(chief.early_stopping->score.metric, "log_loss");
  EXPECT_EQ(chief.early_stopping->patience, 4U);
  EXPECT_EQ(chief.early_stopping->min_delta, 0.5);
  EXPECT_EQ(chief.keep_best->metric, "log_loss");
  training.mutable_checkpoint()->mutable_keep_best()->set_metric(Evaluation::auc);
  EXPECT_EQ(ChiefJobOf(job).keep_best->metric, "auc");
}

}  // namespace
}  // namespace pstrain
