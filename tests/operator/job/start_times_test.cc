#include "operator/job/start_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

const plan::Time kStart{std::chrono::hours(10)};

JobStatus StatusOf(JobStatus::Phase phase, bool running = false, int step = 0) {
  JobStatus status;
  status.set_phase(phase);
  status.set_start_time(plan::FormatTimestamp(kStart));
  plan::PutCondition(
      {.type = "Running", .value = running, .reason = "R", .message = "", .generation = 1}, kStart,
      status);
  if (step > 0) status.mutable_training()->set_step(step);
  return status;
}

TEST(StartTimes, EachStage_IsToldOnceForAStart) {
  StartTimes times;
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Pending), kStart), IsEmpty());
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Running), kStart + seconds(5)), IsEmpty());
  auto reached = times.Observe(StatusOf(JobStatus::Running, true), kStart + seconds(7));
  ASSERT_EQ(reached.size(), 1U);
  EXPECT_EQ(reached.front().stage, StartStage::kReplicasRunning);
  EXPECT_EQ(reached.front().took, milliseconds(7000));
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Running, true), kStart + seconds(8)), IsEmpty());
  reached = times.Observe(StatusOf(JobStatus::Running, true, 1), kStart + seconds(9));
  ASSERT_EQ(reached.size(), 1U);
  EXPECT_EQ(reached.front().stage, StartStage::kFirstStep);
  EXPECT_EQ(StartStageName(reached.front().stage), "first_step");
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Running, true, 2), kStart + seconds(10)),
              IsEmpty());
}

TEST(StartTimes, StepsOfBeforeASuspension_AreNoFirstStep) {
  StartTimes times;
  times.Observe(StatusOf(JobStatus::Pending, false, 40), kStart);
  EXPECT_EQ(times.Observe(StatusOf(JobStatus::Running, true, 40), kStart + seconds(1)).size(), 1U);
  EXPECT_EQ(times.Observe(StatusOf(JobStatus::Running, true, 41), kStart + seconds(2)).size(), 1U);
}

TEST(StartTimes, AResumedJob_IsAnotherStart) {
  StartTimes times;
  times.Observe(StatusOf(JobStatus::Pending), kStart);
  EXPECT_EQ(times.Observe(StatusOf(JobStatus::Running, true, 1), kStart + seconds(1)).size(), 2U);
  JobStatus suspended = StatusOf(JobStatus::Suspended, false, 1);
  suspended.clear_start_time();
  EXPECT_THAT(times.Observe(suspended, kStart + seconds(2)), IsEmpty());
  JobStatus resumed = StatusOf(JobStatus::Running, false, 1);
  resumed.set_start_time(plan::FormatTimestamp(kStart + seconds(50)));
  EXPECT_THAT(times.Observe(resumed, kStart + seconds(50)), IsEmpty());
  resumed.mutable_training()->set_step(2);
  const auto reached = times.Observe(resumed, kStart + seconds(54));
  ASSERT_EQ(reached.size(), 1U);
  EXPECT_EQ(reached.front().stage, StartStage::kFirstStep);
  EXPECT_EQ(reached.front().took, milliseconds(4000));
}

TEST(StartTimes, AJobThatRunsAlready_IsLeftOut) {
  StartTimes times;
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Running, true, 5), kStart), IsEmpty());
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Running, true, 6), kStart), IsEmpty());
}

TEST(StartTimes, AStartThatEndsInAFailure_IsForgotten) {
  StartTimes times;
  times.Observe(StatusOf(JobStatus::Pending), kStart);
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Failed), kStart + seconds(1)), IsEmpty());
  EXPECT_THAT(times.Observe(StatusOf(JobStatus::Running, true, 1), kStart + seconds(2)), IsEmpty());
}

}  // namespace
}  // namespace pstrain::job
