// Numbers that are infinite or not a number (NaN): where they come up, the job ends and says where,
// or leaves the batch out and counts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// 3e38 fits into a float, ten times as much does not.
constexpr const char* kTimesTen =
    "spec.training.features=[{name: age, numeric: {transform: {standardize: {mean: 0, stddev: "
    "0.1}}}}, {name: city, vocabulary: {values: [a, b, c]}}]";
constexpr const char* kPoison = "1,3e38,a";
/// A job that has failed for good is not tried again.
constexpr const char* kSixAttempts = "spec.runPolicy.backoffLimit=6";

class NonFinite : public SmallJob {
 protected:
  static void ExpectFailedForGood(const ProgramEnd& end) {
    EXPECT_EQ(end.code, 1) << end.out;
    EXPECT_THAT(end.out, HasSubstr("\"state\":\"Failed\""));
    EXPECT_THAT(end.out, HasSubstr("\"error\":\"ReplicaFailedForGood: chief-0: "));
  }
};

TEST_F(NonFinite, WhenAStepOverflowsAVariable_TheJobFailsAndNamesVariableShardAndPs) {
  const ProgramEnd end =
      Run({"--set", "spec.training.optimizer={sgd: {learningRate: 1e38}}", "--set", kSixAttempts});
  ExpectFailedForGood(end);
  EXPECT_THAT(end.err, AllOf(HasSubstr("job failed: "), HasSubstr("ps 0"), HasSubstr("variable "),
                             HasSubstr(" in shard "), HasSubstr(" is infinite or not a number"),
                             HasSubstr("lower the learning rate of spec.training.optimizer")));
  EXPECT_TRUE(Checkpoints().empty());
}

TEST_F(NonFinite, WhenABatchIsPoisoned_TheJobFailsAndNamesBatchFileAndVariable) {
  WriteDataWithLine(700, kPoison);
  const ProgramEnd end = Run({"--set", kTimesTen, "--set", kSixAttempts});
  ExpectFailedForGood(end);
  EXPECT_THAT(end.err, AllOf(HasSubstr("worker 0: epoch 0, batch "),
                             HasSubstr(" (8 of the records 641 to 704 of data.csv): the loss and "
                                       "the gradient of variable "),
                             HasSubstr("spec.training.onNonFinite: Skip")));
}

TEST_F(NonFinite, WhenPoisonedBatchesAreLeftOut_TheyAreCountedAndTheRestIsTrained) {
  WriteDataWithLine(700, kPoison);
  const ProgramEnd end = Run({"--set", kTimesTen, "--set", "spec.training.onNonFinite=Skip"});
  ExpectAllAppliedOnce(end);
  constexpr int kBatch = 8;
  EXPECT_EQ(end.Number("records_non_finite"), kBatch * kEpochs);
  EXPECT_EQ(end.Number("records_skipped"), 0);
}

TEST_F(NonFinite, WhenAScoreIsNotANumber_TheJobFailsAndNamesTheCheckpoint) {
  // The weight of the age stays 0, and 0 times infinite is not a number.
  std::string data;
  for (int i = 0; i < kRecords; ++i) data += std::to_string(i % 2) + ",0,a\n";
  Write("data.csv", data);
  Write("test.csv", std::string("0,5,a\n") + kPoison + "\n");
  WriteJob(
      "    evaluation:\n"
      "      input:\n"
      "        csv: {files: [test.csv], columns: [label, age, city], labelColumn: label}\n");
  const ProgramEnd end = Run({"--set", kTimesTen, "--set", kSixAttempts, "--set",
                              "spec.replicaSpecs.evaluator.replicas=1"});
  ExpectFailedForGood(end);
  EXPECT_THAT(end.err, AllOf(HasSubstr("evaluator: checkpoint 1-"),
                             HasSubstr(": 1 of 2 scores are not numbers; ")));
}

}  // namespace
}  // namespace pstrain
