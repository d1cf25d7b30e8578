#include "runtime/worker/ps_problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/manual_clock.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class PsProblemsTest : public testing::Test {
 protected:
  PollWorkerRequest Poll() const {
    PollWorkerRequest request;
    problems_.Describe(&request);
    return request;
  }
  /// Warnings while the ps has not answered for that long, asked each second.
  std::string WarningsIn(seconds time) {
    testing::internal::CaptureStderr();
    for (seconds passed{0}; passed < time; passed += seconds(1)) {
      problems_.NotAnswered(1, UnavailableError("cut"));
      clock_.Advance(seconds(1));
    }
    return testing::internal::GetCapturedStderr();
  }

  ManualClock clock_{seconds(100)};
  PsProblems problems_{clock_};
};

TEST_F(PsProblemsTest, WhenAPsDoesNotAnswer_EachPollSaysSinceWhen) {
  EXPECT_EQ(Poll().unreachable_size(), 0);
  problems_.NotAnswered(1, UnavailableError("cut"));
  clock_.Advance(milliseconds(1500));
  problems_.NotAnswered(1, DeadlineExceededError("late"));
  const PollWorkerRequest poll = Poll();
  ASSERT_EQ(poll.unreachable_size(), 1);
  EXPECT_EQ(poll.unreachable(0).ps(), 1u);
  EXPECT_EQ(poll.unreachable(0).milliseconds(), 1500u);
  EXPECT_EQ(poll.unreachable(0).error(), "DEADLINE_EXCEEDED: late");
  problems_.Answered(0);
  EXPECT_EQ(Poll().unreachable_size(), 1);
  problems_.Answered(1);
  EXPECT_EQ(Poll().unreachable_size(), 0);
}

TEST_F(PsProblemsTest, WhileAPsDoesNotAnswer_WarnsEveryTenSecondsAndNamesIt) {
  EXPECT_EQ(WarningsIn(seconds(10)), "") << "it may be being replaced";
  const std::string once = WarningsIn(seconds(9));
  EXPECT_THAT(once, HasSubstr("a ps does not answer; batches wait for it ps=1 for_seconds=10"));
  EXPECT_EQ(std::count(once.begin(), once.end(), '\n'), 1);
  const std::string again = WarningsIn(seconds(20));
  EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), 2);
}

TEST_F(PsProblemsTest, WhenTheFirstAnswerIsLate_WarnsImmediately) {
  testing::internal::CaptureStderr();
  problems_.NotAnswered(1, DeadlineExceededError("late"), seconds(10));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("ps=1 for_seconds=10"));
}

TEST_F(PsProblemsTest, WhenAPsRefusesAShard_EachPollNamesItUntilTheShardIsOwned) {
  problems_.Refused(0, {2, {1, 7}});
  problems_.Refused(0, {2, {1, 8}});
  const PollWorkerRequest poll = Poll();
  ASSERT_EQ(poll.disowned_size(), 1);
  EXPECT_EQ(FromWire(poll.disowned(0)), (ShardInTerm{2, {1, 8}}));
  problems_.Owned(3);
  EXPECT_EQ(Poll().disowned_size(), 1);
  problems_.Owned(2);
  EXPECT_EQ(Poll().disowned_size(), 0);
}

}  // namespace
}  // namespace pstrain
