#include "operator/job/observe/checkpoint_progress.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "operator/job/act/job_events.h"
#include "operator/job/observe/progress_store.h"

namespace pstrain::job {
namespace {

ProgressReading Reading(int failing_seconds, int error_number, int ms = 0) {
  const std::string body = R"({"values": {"checkpoint_failing_seconds": )" +
                           std::to_string(failing_seconds) + R"(, "checkpoint_errno": )" +
                           std::to_string(error_number) + "}}";
  return *ParseProgress(body, plan::Time(std::chrono::milliseconds(ms)), 0);
}

TEST(CheckpointsFailing, IsSaidAfterHalfAMinuteAndNamesTheError) {
  EXPECT_FALSE(CheckpointsFailing(Reading(29, ENOSPC)).has_value());
  const std::optional<Problem> full = CheckpointsFailing(Reading(30, ENOSPC));
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->reason, "NoSpaceLeftOnDevice");
  EXPECT_NE(full->message.find("for more than 30 s: No space left on device"), std::string::npos);
  EXPECT_EQ(CheckpointsFailing(Reading(700, EIO))->reason, "InputOutputError");
  EXPECT_EQ(CheckpointsFailing(Reading(60, 0))->reason, "CheckpointNotWritten");
}

TEST(CheckpointsFailing, WhileTheTimeGrows_TheMessageStays) {
  EXPECT_EQ(CheckpointsFailing(Reading(31, EIO)), CheckpointsFailing(Reading(599, EIO)));
  EXPECT_NE(CheckpointsFailing(Reading(599, EIO)), CheckpointsFailing(Reading(600, EIO)));
  EXPECT_EQ(CheckpointsFailing(Reading(3600, EIO)), CheckpointsFailing(Reading(90000, EIO)));
}

TEST(CheckpointsFailing, WhenAPodAnswersNonsense_NothingIsSaid) {
  EXPECT_FALSE(CheckpointsFailing(*ParseProgress(R"({"values": {}})", plan::Time(), 0)));
  EXPECT_FALSE(CheckpointsFailing(
      *ParseProgress(R"({"values": {"checkpoint_failing_seconds": "x", "checkpoint_errno": []}})",
                     plan::Time(), 0)));
  EXPECT_EQ(CheckpointsFailing(Reading(60, -5))->reason, "CheckpointNotWritten");
  EXPECT_EQ(CheckpointsFailing(Reading(60, 100000))->reason, "CheckpointNotWritten");
}

TEST(CheckpointsFailing, IsOneEventForEachReasonAndEndsWhenTheDiskRecovers) {
  ProgressStore store;
  const PSTrainingJob job;
  JobStatus before;
  JobStatus status;
  const auto see = [&](int failing_seconds, int error_number, int ms) {
    store.Record("job", Reading(failing_seconds, error_number, ms));
    before = status;
    SetProblemCondition(kCheckpointsFailing, "CheckpointsWritten", store.CheckpointsFailing("job"),
                        1, plan::Time(std::chrono::milliseconds(ms)), status);
    return EventsOfProblems(job, before, status);
  };
  EXPECT_TRUE(see(0, 0, 1000).empty());
  EXPECT_EQ(status.conditions_size(), 0);
  ASSERT_EQ(see(40, ENOSPC, 2000).size(), 1u);
  EXPECT_TRUE(see(45, ENOSPC, 3000).empty());
  EXPECT_EQ(see(50, EIO, 4000).at(0).reason, "InputOutputError");
  EXPECT_TRUE(see(0, 0, 5000).empty());
  EXPECT_EQ(status.conditions(0).status(), "False");
  EXPECT_EQ(status.conditions(0).reason(), "CheckpointsWritten");
}

}  // namespace
}  // namespace pstrain::job
