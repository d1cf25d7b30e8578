#include "runtime/worker/ps_trouble.h"

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

class PsTroubleTest : public testing::Test {
 protected:
  PollWorkerRequest Poll() const {
    PollWorkerRequest request;
    trouble_.Describe(&request);
    return request;
  }
  /// Warnings while the ps has not answered for that long, asked each second.
  std::string WarningsIn(seconds time) {
    testing::internal::CaptureStderr();
    for (seconds passed{0}; passed < time; passed += seconds(1)) {
      trouble_.NotAnswered(1, UnavailableError("cut"));
      clock_.Advance(seconds(1));
    }
    return testing::internal::GetCapturedStderr();
  }

  ManualClock clock_{seconds(100)};
  PsTrouble trouble_{clock_};
};

TEST_F(PsTroubleTest, WhenAPsDoesNotAnswer_EachPollSaysSinceWhen) {
  EXPECT_EQ(Poll().unreachable_size(), 0);
  trouble_.NotAnswered(1, UnavailableError("cut"));
  clock_.Advance(milliseconds(1500));
  trouble_.NotAnswered(1, DeadlineExceededError("late"));
  const PollWorkerRequest poll = Poll();
  ASSERT_EQ(poll.unreachable_size(), 1);
  EXPECT_EQ(poll.unreachable(0).ps(), 1u);
  EXPECT_EQ(poll.unreachable(0).milliseconds(), 1500u);
  EXPECT_EQ(poll.unreachable(0).error(), "DEADLINE_EXCEEDED: late");
  trouble_.Answered(0);
  EXPECT_EQ(Poll().unreachable_size(), 1);
  trouble_.Answered(1);
  EXPECT_EQ(Poll().unreachable_size(), 0);
}

TEST_F(PsTroubleTest, WhileAPsDoesNotAnswer_WarnsEveryTenSecondsAndNamesIt) {
  EXPECT_EQ(WarningsIn(seconds(10)), "") << "it may be being replaced";
  const std::string once = WarningsIn(seconds(9));
  EXPECT_THAT(once, HasSubstr("a ps does not answer; batches wait for it ps=1 for_seconds=10"));
  EXPECT_EQ(std::count(once.begin(), once.end(), '\n'), 1);
  const std::string again = WarningsIn(seconds(20));
  EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), 2);
}

TEST_F(PsTroubleTest, WhenTheFirstAnswerIsLate_WarnsImmediately) {
  testing::internal::CaptureStderr();
  trouble_.NotAnswered(1, DeadlineExceededError("late"), seconds(10));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("ps=1 for_seconds=10"));
}

TEST_F(PsTroubleTest, WhenAPsRefusesAShard_EachPollNamesItUntilTheShardIsOwned) {
  trouble_.Refused(0, {2, {1, 7}});
  trouble_.Refused(0, {2, {1, 8}});
  const PollWorkerRequest poll = Poll();
  ASSERT_EQ(poll.disowned_size(), 1);
  EXPECT_EQ(FromWire(poll.disowned(0)), (ShardInTerm{2, {1, 8}}));
  trouble_.Owned(3);
  EXPECT_EQ(Poll().disowned_size(), 1);
  trouble_.Owned(2);
  EXPECT_EQ(Poll().disowned_size(), 0);
}

}  // namespace
}  // namespace pstrain
