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

}  // namespace
}  // namespace pstrain
