// Training that ends before its epochs because a metric does not get better, as real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoints.h"
#include "tests/process/evaluated_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

/// No AUC is better by 1 than the first one: the third evaluation ends the training, long before
/// its epochs do.
class EarlyStopTest : public EvaluatedJobTest {
 protected:
  static constexpr int kEpochs = 5000;

  void SetUp() override {
    WriteJob(kEpochs, "    earlyStopping: {metric: auc, patience: 2, minDelta: 1}\n");
  }

  /// All that was granted is applied once, and that is not all there was.
  void ExpectStoppedEarly(const Ended& ended) const {
    ExpectAllAppliedOnce(ended);
    EXPECT_LT(Number(ended.report, "examples_expected"), double{kRecords} * kEpochs);
    EXPECT_EQ(*ended.report.Find("reason")->AsString(), "EarlyStopped");
    const Json* stop = ended.report.Find("early_stopped");
    ASSERT_NE(stop, nullptr);
    EXPECT_EQ(Number(*stop, "patience"), 2);
    const Json* history = ended.report.Find("history");
    ASSERT_NE(history, nullptr);
    EXPECT_GE(history->items().size(), 4u);
    ExpectBestIsThere(ended);
  }
  /// It is old by the end, and its scores are those that it had.
  void ExpectBestIsThere(const Ended& ended) const {
    const Json* best = ended.report.Find("best");
    ASSERT_NE(best, nullptr);
    const std::string name = *best->Find("checkpoint")->AsString();
    const std::string folder = CheckpointDirectory(RunDirectory(ended), *ParseCheckpointName(name));
    EXPECT_TRUE(FileExists(folder + "/manifest")) << folder;
    for (const char* asked : {"best", name.c_str(), ""}) {
      const std::vector<std::string> more = {"--checkpoint", asked};
      const Json scores = Evaluate("small", *asked == 0 ? std::vector<std::string>() : more);
      ASSERT_NE(scores.Find("checkpoint"), nullptr);
      EXPECT_THAT(*scores.Find("checkpoint")->AsString(), HasSubstr("/" + name));
      EXPECT_EQ(Number(scores, "auc"), Number(*best, "value"));
    }
  }
};

TEST_F(EarlyStopTest, Run_WhenTheMetricGetsNoBetter_EndsWithWhatWasGranted) {
  const Ended ended = RunJob();
  ExpectStoppedEarly(ended);
  // What has ended so is finished: nothing is trained again.
  const Ended again = RunJob({"--resume"});
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(*again.report.Find("reason")->AsString(), "EarlyStopped");
  EXPECT_EQ(Number(again.report, "examples_expected"), Number(ended.report, "examples_expected"));
  // Another rule would have ended it elsewhere.
  const Ended other = RunJob({"--resume", "--set", "spec.training.earlyStopping.patience=3"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.errors, HasSubstr("spec.training.earlyStopping.patience was 2"));
  EXPECT_THAT(other.errors, HasSubstr("raise spec.training.epochs above 5000 to train on"));
  const Ended more = RunJob({"--resume", "--set", "spec.training.earlyStopping.patience=3", "--set",
                             "spec.training.epochs=5001"});
  ExpectAllAppliedOnce(more);
  EXPECT_GT(Number(more.report, "examples_expected"), Number(ended.report, "examples_expected"));
  EXPECT_GT(more.report.Find("history")->items().size(),
            ended.report.Find("history")->items().size());
}

struct Case {
  const char* name;
  std::vector<std::string> points;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class EarlyStopKillTest : public EarlyStopTest, public testing::WithParamInterface<Case> {};

TEST_P(EarlyStopKillTest, Run_WhenTheChiefIsKilledThere_EndsTheSame) {
  std::string points;
  for (const std::string& point : GetParam().points) points += (points.empty() ? "" : ",") + point;
  const Ended ended = RunJob({}, points);
  ExpectStoppedEarly(ended);
  for (const std::string& point : GetParam().points) {
    EXPECT_TRUE(FileExists(RunDirectory(ended) + "/fired-" + point)) << point;
  }
}

INSTANTIATE_TEST_SUITE_P(
    At, EarlyStopKillTest,
    testing::Values(
        Case{.name = "BeforeTheDecisionIsOnDisk", .points = {"chief-before-early-stop:0:0:1"}},
        Case{.name = "AfterTheDecisionIsOnDisk", .points = {"chief-after-early-stop:0:0:1"}},
        Case{.name = "BeforeBoth",
             .points = {"chief-before-early-stop:0:0:1", "chief-before-early-stop:0:1:1"}},
        // The first checkpoint of the second chief is the final one.
        Case{.name = "AfterTheDecisionAndBeforeTheFinalCheckpoint",
             .points = {"chief-after-early-stop:0:0:1", "chief-before-rename:0:1:1"}},
        Case{.name = "AfterTheDecisionAndAfterTheFinalCheckpoint",
             .points = {"chief-after-early-stop:0:0:1", "chief-after-rename:0:1:1"}}),
    [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace pstrain
