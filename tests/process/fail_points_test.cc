// Kills at exact moments of the commit protocol, as real processes: nothing is lost, nothing is
// applied twice, and the weights are those of the closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoints.h"
#include "tests/process/exact_fixture.h"

namespace pstrain {
namespace {

struct Case {
  const char* name;
  /// Entries of PSTRAIN_FAIL_POINTS (runtime/cluster/fail_points.h).
  std::vector<std::string> points;
  /// Workers of the job: with one of them, it is sure to come to its point.
  int workers = 2;
  /// A batch is pushed again where it is applied already.
  bool duplicates = false;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

std::string Joined(const std::vector<std::string>& points) {
  std::string text;
  for (const std::string& point : points) text += (text.empty() ? "" : ",") + point;
  return text;
}

class FailPointRunTest : public ExactRunTest, public testing::WithParamInterface<Case> {};

TEST_P(FailPointRunTest, Run_WhenKilledThere_EndsWithTheClosedForm) {
  const Case& tested = GetParam();
  const Ended ended =
      RunExact({"--set", "spec.replicaSpecs.worker.replicas=" + std::to_string(tested.workers)},
               {"PSTRAIN_FAIL_POINTS=" + Joined(tested.points)});
  ExpectAllAppliedOnce(ended);
  for (const std::string& point : tested.points) {
    EXPECT_TRUE(FileExists(JoinPath(RunDirectory(ended), "fired-" + point))) << point;
  }
  if (tested.duplicates) {
    EXPECT_GT(Number(ended.report, "duplicates_refused"), 0);
  }
  ExpectClosedForm(ended);
  const Result<std::vector<CheckpointFolder>> folders = ListCheckpointFolders(RunDirectory(ended));
  ASSERT_TRUE(folders.ok());
  for (const CheckpointFolder& folder : *folders)
    EXPECT_TRUE(folder.finished) << CheckpointName(folder.id);
}

INSTANTIATE_TEST_SUITE_P(
    At, FailPointRunTest,
    testing::Values(
        Case{.name = "WorkerBetweenTwoPs",
             .points = {"worker-between-ps:0:0:700"},
             .workers = 1,
             .duplicates = true},
        Case{.name = "SecondPsBeforeApply", .points = {"ps-before-apply:1:0:700"}},
        Case{.name = "FirstPsBeforeApply", .points = {"ps-before-apply:0:0:700"}},
        Case{.name = "PsBetweenApplyAndReply", .points = {"ps-before-reply:1:0:700"}},
        Case{.name = "PsBetweenShardsOfACheckpoint",
             .points = {"ps-between-checkpoint-shards:1:0:90"}},
        Case{.name = "ChiefBetweenShardsOfACheckpoint",
             .points = {"chief-between-checkpoint-shards:0:0:2"}},
        Case{.name = "ChiefBeforeRename", .points = {"chief-before-rename:0:0:2"}},
        Case{.name = "ChiefAfterRename", .points = {"chief-after-rename:0:0:2"}},
        Case{
            .name = "WorkerAfterItsReport", .points = {"worker-report-sent:0:0:300"}, .workers = 1},
        Case{.name = "ChiefAfterCountingAReport", .points = {"chief-report-counted:0:0:700"}},
        Case{.name = "TwoChiefsBeforeRename",
             .points = {"chief-before-rename:0:0:2", "chief-before-rename:0:1:1"}},
        Case{.name = "OneOfEachRole",
             .points = {"worker-between-ps:0:0:300", "ps-before-reply:1:0:700",
                        "chief-before-rename:0:0:2"},
             .workers = 1,
             .duplicates = true}),
    [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

TEST_F(TrainingRunTest, FailPoints_WhenTestOnlyIsNotAllowed_AreNotRead) {
  const Ended ended =
      RunAdult({"--set", "spec.training.epochs=1"}, {"PSTRAIN_FAIL_POINTS=ps-before-apply:0:0:1"});
  ASSERT_EQ(ended.code, 0) << ended.errors;
  EXPECT_TRUE(FileExists(dir_.File(".pstrain/adult/logs/ps-0-0.log")));
  EXPECT_FALSE(FileExists(dir_.File(".pstrain/adult/logs/ps-0-1.log")));
}

TEST_F(ExactRunTest, FailPoints_WhenMisspelt_FailTheRunAndNameTheForm) {
  const Ended ended = RunExact({"--set", "spec.runPolicy.backoffLimit=0"},
                               {"PSTRAIN_FAIL_POINTS=ps-before-aply:0:0:1"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.errors, testing::HasSubstr("POINT:INDEX:ATTEMPT:PASS"));
}

}  // namespace
}  // namespace pstrain
