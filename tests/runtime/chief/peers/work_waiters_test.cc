#include "runtime/chief/peers/work_waiters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pstrain {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WorkWaitersTest : public ::testing::Test {
 protected:
  /// Answers to it appear in `told_` as `name`.
  void Add(std::uint32_t worker, const std::string& name, bool want = true,
           std::uint64_t membership_seen = 7) {
    AwaitWorkRequest request;
    request.set_index(worker);
    request.set_want(want);
    request.set_membership_seen(membership_seen);
    waiters_.Add(request, now_, [this, name] { told_.push_back(name); });
  }
  void Tell(std::uint64_t open, std::uint64_t membership = 7, bool ending = false) {
    waiters_.Tell({.ending = ending, .membership = membership, .open = open}, now_);
  }

  ProtocolTime now_{seconds(1000)};
  std::vector<std::string> told_;
  WorkWaiters waiters_;
};

TEST_F(WorkWaitersTest, OpenWork_IsToldToTheFirstComersAsManyAsThereIsWork) {
  Add(2, "two");
  Add(0, "zero");
  Add(1, "one");
  Tell(0);
  EXPECT_THAT(told_, IsEmpty());
  Tell(2);
  EXPECT_THAT(told_, ElementsAre("two", "zero"));
  Tell(1);
  EXPECT_THAT(told_, ElementsAre("two", "zero", "one"));
  EXPECT_TRUE(waiters_.empty());
}

TEST_F(WorkWaitersTest, WorkThatIsKeptForAWorker_IsToldToThatAlone) {
  Add(0, "zero");
  Add(1, "one");
  Add(2, "two");
  Add(3, "three", false);
  const WorkWaiters::News news{
      .membership = 7, .open = 1, .kept = [](std::uint32_t worker) { return worker != 1; }};
  waiters_.Tell(news, now_);
  EXPECT_THAT(told_, ElementsAre("zero", "one", "two")) << "the open one is left for worker 1";
}

TEST_F(WorkWaitersTest, WhoWantsNoWork_HearsOfANewerMembershipOnly) {
  Add(0, "no work", false);
  Add(1, "work");
  Tell(1);
  EXPECT_THAT(told_, ElementsAre("work"));
  Tell(5, 8);
  EXPECT_THAT(told_, ElementsAre("work", "no work"));
}

TEST_F(WorkWaitersTest, WhenThereIsNoNews_EachIsAnsweredAfterAWhile) {
  Add(0, "early");
  now_ += seconds(4);
  Add(1, "late");
  now_ += WorkWaiters::kLongest - seconds(4);
  Tell(0);
  EXPECT_THAT(told_, ElementsAre("early"));
}

TEST_F(WorkWaitersTest, WhenAWorkerCallsAgain_ItsEarlierCallIsAnswered) {
  Add(0, "first");
  Add(0, "second");
  EXPECT_THAT(told_, ElementsAre("first"));
  Tell(1);
  EXPECT_THAT(told_, ElementsAre("first", "second"));
}

TEST_F(WorkWaitersTest, WhenTheRunEnds_AllHearOfIt) {
  Add(0, "a");
  Add(1, "b", false);
  Tell(0, 7, true);
  EXPECT_THAT(told_, ElementsAre("a", "b"));
}

TEST_F(WorkWaitersTest, Close_AnswersAllAndWhoComesLater) {
  Add(0, "before");
  waiters_.Close();
  Add(1, "after");
  EXPECT_THAT(told_, ElementsAre("before", "after"));
  EXPECT_TRUE(waiters_.empty());
}

}  // namespace
}  // namespace pstrain
