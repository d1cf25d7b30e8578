#include "cli/scoring/saved_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "local/replicas/last_run.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/evaluations.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

class SavedModelTest : public testing::Test {
 protected:
  Status Open(const std::string& run, const std::string& checkpoint = "latest") {
    return OpenSavedModel({.run = run, .checkpoint = checkpoint, .state_dir = dir_.File("state")})
        .status();
  }
  void ExpectRefused(const Status& status, StatusCode code, const std::string& what) {
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(status.message(), HasSubstr(what));
  }

  TempDir dir_;
};

TEST_F(SavedModelTest, WhenNothingHasTheName_SaysWhereItLooked) {
  ExpectRefused(Open("adult"), StatusCode::kNotFound,
                dir_.File("state/adult/run.json") + " does not exist");
  ASSERT_TRUE(CreateDirectories(dir_.File("state/adult")).ok());
  ASSERT_TRUE(local::WriteLastRun(dir_.File("state/adult"), "adult", {"r1", ""}).ok());
  ExpectRefused(Open("adult"), StatusCode::kNotFound,
                "the last run of job adult has no checkpoints");
  ASSERT_TRUE(
      local::WriteLastRun(dir_.File("state/adult"), "adult", {"r1", dir_.File("saved")}).ok());
  EXPECT_EQ(Open("adult").code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(dir_.File("state/adult/run.json"), "{").ok());
  EXPECT_EQ(Open("adult").code(), StatusCode::kDataLoss);
}

TEST_F(SavedModelTest, WhenNoCheckpointWasWrittenYet_SaysWhenThereIsOne) {
  ASSERT_TRUE(TakeChiefTerm(dir_.File("runs/r1")).ok());
  const std::string what = ": a run writes one after checkpoint.everySteps or everySeconds";
  ExpectRefused(Open(dir_.File("runs/r1")), StatusCode::kNotFound, what);
  ASSERT_TRUE(CreateDirectories(dir_.File("state/adult")).ok());
  ASSERT_TRUE(
      local::WriteLastRun(dir_.File("state/adult"), "adult", {"r1", dir_.File("runs")}).ok());
  ExpectRefused(Open("adult"), StatusCode::kNotFound, what);
  // By its run id.
  ExpectRefused(Open("r1"), StatusCode::kNotFound, what);
  ExpectRefused(Open("r1", "1-3"), StatusCode::kNotFound, what);
}

TEST_F(SavedModelTest, WhenACheckpointIsOfAProgram_SaysWhoKnowsItsModel) {
  const std::string checkpoint = checkpoint_test::WriteCheckpoint(dir_.File("run"), {1, 2}, 2);
  for (const std::string& name : {checkpoint, checkpoint + "/", dir_.File("run")}) {
    ExpectRefused(Open(name), StatusCode::kFailedPrecondition,
                  "was made by a program of your own, which alone knows its model");
  }
  ExpectRefused(Open(checkpoint, "1-2"), StatusCode::kInvalidArgument, "is a checkpoint; leave");
  ExpectRefused(Open(dir_.File("run"), "newest"), StatusCode::kInvalidArgument,
                "--checkpoint newest: it is best, latest, or <chief term>-<number>");
  ExpectRefused(Open(dir_.File("run"), "1-3"), StatusCode::kNotFound, "there are: 1-2");
}

// It is the folder that the error names.
TEST_F(SavedModelTest, WithoutAName_TakesTheBestWhereThereIsOneElseTheLatest) {
  const std::string run = dir_.File("run");
  const ChiefTerm term = *TakeChiefTerm(run);
  for (const std::uint64_t number : {1U, 2U, 3U})
    checkpoint_test::WriteCheckpoint(run, {1, number}, 2);
  const auto opens = [&](const std::string& name, const std::string& checkpoint) {
    ExpectRefused(Open(run, name), StatusCode::kFailedPrecondition,
                  run + "/checkpoints/" + checkpoint);
  };
  opens("", "1-3");
  ExpectRefused(Open(run, "best"), StatusCode::kNotFound,
                "has no best checkpoint: a run keeps one by checkpoint.keepBest");
  RunEvaluations evaluations;
  evaluations.mutable_best()->set_checkpoint("1-2");
  ASSERT_TRUE(WriteEvaluations(run, term, evaluations).ok());
  opens("", "1-2");
  opens("best", "1-2");
  opens("latest", "1-3");
  opens("1-1", "1-1");
  ASSERT_TRUE(RemoveCheckpoint(run, {1, 2}).ok());
  ExpectRefused(Open(run, "best"), StatusCode::kNotFound, "there is no checkpoint 1-2 in");
}

}  // namespace
}  // namespace pstrain
