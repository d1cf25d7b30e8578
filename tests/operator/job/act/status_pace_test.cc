#include "operator/job/act/status_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace pstrain::job {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr plan::Time kNow{std::chrono::hours(1000)};

JobStatus Running(int ready, int step) {
  JobStatus status;
  status.set_phase(JobStatus::Running);
  (*status.mutable_replica_statuses())["worker"].set_ready(ready);
  status.mutable_training()->set_step(step);
  return status;
}

/// A job whose status was written at kNow.
JobState Written(const JobStatus& stored) {
  JobState state;
  state.stored = stored;
  StatusPace::Written(JobStatus(), kNow, state);
  return state;
}

TEST(StatusPace, WhatIsMoreThanNumbers_IsWrittenImmediately) {
  StatusPace pace({});
  JobState state = Written(Running(1, 1));
  JobStatus status = Running(2, 2);
  status.mutable_restarts()->set_failures(1);
  EXPECT_FALSE(pace.Due(status, kNow, state).has_value());
  EXPECT_FALSE(pace.Due(state.stored, kNow, state).has_value()) << "nothing to write";
}

TEST(StatusPace, CountsWaitASecondAndProgressHalfAMinute) {
  StatusPace pace({});
  JobState state = Written(Running(1, 1));
  EXPECT_EQ(pace.Due(Running(2, 1), kNow, state), kNow + seconds(1));
  EXPECT_EQ(pace.Due(Running(1, 2), kNow + seconds(5), state), kNow + seconds(30));
  EXPECT_EQ(pace.Due(Running(2, 2), kNow, state), kNow + seconds(1)) << "progress goes with counts";
  EXPECT_FALSE(pace.Due(Running(2, 1), kNow + seconds(1), state).has_value());
  EXPECT_FALSE(pace.Due(Running(1, 2), kNow + seconds(30), state).has_value());
}

// What says counts and progress in words waits as they do.
TEST(StatusPace, ConditionsOfCountsAndOfProgress_WaitAsTheseDo) {
  StatusPace pace({});
  const JobState written = Written(Running(1, 1));
  const auto with = [&](const char* type) {
    JobStatus status = written.stored;
    Condition& condition = *status.add_conditions();
    condition.set_type(type);
    condition.set_status("True");
    return status;
  };
  JobState state = written;
  EXPECT_EQ(pace.Due(with("PodsReady"), kNow, state), kNow + seconds(1));
  EXPECT_EQ(pace.Due(with("Degraded"), kNow, state), kNow + seconds(1));
  EXPECT_EQ(pace.Due(with("Checkpointed"), kNow, state), kNow + seconds(30));
  EXPECT_FALSE(pace.Due(with("Blocked"), kNow, state).has_value());
  JobStatus reason = written.stored;
  reason.set_reason("ReplicasMissing");
  EXPECT_EQ(pace.Due(reason, kNow, state), kNow + seconds(1));
}

TEST(StatusPace, TheFirstProgress_WaitsForNothing) {
  StatusPace pace({});
  JobStatus stored = Running(1, 0);
  stored.clear_training();
  JobState state;
  state.stored = stored;
  state.written_at = kNow;
  EXPECT_FALSE(pace.Due(Running(1, 1), kNow, state).has_value());
}

TEST(StatusPace, ThatTheJobHasStarted_IsWrittenImmediately) {
  StatusPace pace({});
  JobState state = Written(Running(1, 0));
  JobStatus status = Running(1, 0);
  status.mutable_training()->set_examples_expected(80);
  EXPECT_FALSE(pace.Due(status, kNow, state).has_value());
}

TEST(StatusPace, AClockThatWasSetBack_MakesNobodyWait) {
  StatusPace pace({});
  JobState state = Written(Running(1, 1));
  EXPECT_FALSE(pace.Due(Running(2, 1), kNow - std::chrono::hours(1), state).has_value());
}

TEST(StatusPace, AClockThatWasSetBack_TakesThePlacesOfAllJobsAlong) {
  StatusPace pace({});
  JobState early = Written(Running(1, 1));
  std::vector<JobState> jobs(100, early);
  const plan::Time then = kNow + seconds(60);
  for (JobState& state : jobs) pace.Due(Running(2, 1), then, state);
  ASSERT_EQ(jobs.back().write_place, then + seconds(4)) << "it waits for its turn";
  const plan::Time now = then - std::chrono::hours(1);
  // Nobody waits for the hour, and those who come now still come after the others.
  EXPECT_EQ(pace.Due(Running(2, 1), now, early).value_or(now), now + milliseconds(4050));
  EXPECT_LE(pace.Due(Running(2, 1), now, jobs.back()).value_or(now), now + seconds(5));
}

TEST(StatusPace, OfManyJobs_SoManyWithoutAWaitAndTheOthersOneAfterTheOther) {
  StatusPace pace({});
  std::vector<JobState> jobs(100, Written(Running(1, 1)));
  const plan::Time then = kNow + seconds(60);
  std::vector<plan::Time> due;
  for (JobState& state : jobs) due.push_back(pace.Due(Running(2, 1), then, state).value_or(then));
  EXPECT_EQ(std::count(due.begin(), due.end(), then), 20);
  EXPECT_EQ(due.back(), then + 80 * milliseconds(50)) << "20 a second";
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_FALSE(pace.Due(Running(2, 1), due[i], jobs[i]).has_value()) << "each keeps its place";
  }
}

}  // namespace
}  // namespace pstrain::job
