#include "cli/scoring/saved_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "local/replicas/last_run.h"
#include "runtime/checkpoint/chief_term.h"
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
                "--checkpoint newest: it is latest, or <chief term>-<number>");
  ExpectRefused(Open(dir_.File("run"), "1-3"), StatusCode::kNotFound, "there are: 1-2");
}

}  // namespace
}  // namespace pstrain
