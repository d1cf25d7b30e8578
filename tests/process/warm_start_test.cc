// A run that begins with the values of another one, as real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/process/evaluated_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

class WarmStartTest : public EvaluatedJobTest {
 protected:
  void SetUp() override { WriteJob(3, ""); }
  Ended RunJob(std::vector<std::string> more = {}, const std::string& points = "") {
    // The first checkpoint stays.
    more.insert(more.end(), {"--set", "spec.training.checkpoint.keep=1000"});
    return EvaluatedJobTest::RunJob(more, points);
  }
  double ScoreOf(const Ended& ended, const std::string& checkpoint) {
    const std::string input = dir_.File("data.csv");
    return Number(Evaluate(RunDirectory(ended), {"--checkpoint", checkpoint, "--input", input}),
                  "log_loss");
  }
};

TEST_F(WarmStartTest, Run_WithTheValuesOfAnother_BeginsWhereThatHasEnded) {
  const Ended first = RunJob();
  ExpectAllAppliedOnce(first);
  const std::string from = "spec.training.restore.run.";
  const Ended second = RunJob({"--set", from + "id=" + RunIdOf(first)});
  ExpectAllAppliedOnce(second);
  EXPECT_NE(RunIdOf(second), RunIdOf(first));
  EXPECT_EQ(Number(second.report, "examples_expected"), Number(first.report, "examples_expected"));
  EXPECT_EQ(ScoreOf(second, "1-0"), ScoreOf(first, "latest"));
  EXPECT_NE(ScoreOf(second, "latest"), ScoreOf(first, "latest"));
  // By its folder; a chief that is lost before it has a checkpoint of its own changes nothing.
  const Ended third = RunJob(
      {"--set", from + "path=checkpoints/" + RunIdOf(second), "--set", from + "checkpoint=latest"},
      "chief-before-rename:0:0:1");
  ExpectAllAppliedOnce(third);
  EXPECT_EQ(ScoreOf(third, "1-0"), ScoreOf(second, "latest"));
  const Ended resumed = RunJob({"--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.errors;
  EXPECT_EQ(Number(resumed.report, "log_loss"), Number(third.report, "log_loss"));
}

TEST_F(WarmStartTest, Run_WhenTheOtherDoesNotFit_EndsAtOnceAndNamesWhatDiffers) {
  const Ended first = RunJob();
  ExpectAllAppliedOnce(first);
  const Ended other = RunJob({"--set", "spec.training.restore.run.id=" + RunIdOf(first), "--set",
                              "spec.strategy.shards=5"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.errors, HasSubstr("it has 4 shards, and the job 5 (spec.strategy.shards)"));
  EXPECT_THAT(other.errors, testing::Not(HasSubstr("to continue")));
  const Ended none = RunJob({"--set", "spec.training.restore.run.id=0123456789abcdef"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.errors, HasSubstr("no checkpoint in "));
}

}  // namespace
}  // namespace pstrain
