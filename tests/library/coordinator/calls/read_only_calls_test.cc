#include "library/coordinator/calls/read_only_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const auto kAll = [](WorkId) { return true; };

class ReadOnlyCallsTest : public testing::Test {
 protected:
  ReadOnlyCallsTest() {
    calls_.SetRegistered(0, true);
    calls_.SetRegistered(1, true);
  }
  void Add(const std::string& name, const ScheduleOptions& schedule = {}, WorkId after = {}) {
    calls_.Add({.state = std::make_shared<ClosureState>(),
                .payload = name,
                .after = after,
                .order = next_++,
                .schedule = schedule});
  }
  std::vector<std::string> Names(std::uint32_t worker, std::size_t want = 10) {
    std::vector<std::string> names;
    for (const Grant& grant : calls_.Grants(worker, want, kAll)) {
      names.push_back(grant.payload());
      attempts_.push_back(FromWire(grant.work_id()));
      EXPECT_TRUE(IsReadOnlyAttempt(attempts_.back()));
      EXPECT_EQ(grant.kind(), kReadOnlyWork);
    }
    return names;
  }

  ReadOnlyCalls calls_;
  std::uint64_t next_ = 0;
  /// Of Names, in order.
  std::vector<WorkId> attempts_;
};

TEST_F(ReadOnlyCallsTest, TheHighestPriorityIsFirstThenTheOrderOfSchedule) {
  Add("a");
  Add("b", {.priority = 1});
  Add("c");
  EXPECT_THAT(Names(0, 2), ElementsAre("b", "a"));
  EXPECT_THAT(Names(1), ElementsAre("c"));
  EXPECT_THAT(Names(1), IsEmpty());
}

TEST_F(ReadOnlyCallsTest, WhatIsForAWorkerIsKeptWhileItIsThere) {
  Add("a", {.worker = 1});
  EXPECT_EQ(calls_.Open(kAll), 0u);
  EXPECT_TRUE(calls_.OpenFor(1, kAll));
  EXPECT_FALSE(calls_.OpenFor(0, kAll));
  EXPECT_THAT(Names(0), IsEmpty());
  calls_.SetRegistered(1, false);
  EXPECT_EQ(calls_.Open(kAll), 1u);
  calls_.SetRegistered(1, true);
  EXPECT_THAT(Names(0), IsEmpty());
  calls_.SetRegistered(1, false);
  EXPECT_THAT(Names(0), ElementsAre("a"));
}

TEST_F(ReadOnlyCallsTest, WhenItsWorkerIsLost_ItIsGrantedAgainAndTheFormerAttemptIsNone) {
  Add("a");
  EXPECT_THAT(Names(0), ElementsAre("a"));
  calls_.SetRegistered(0, false);
  EXPECT_EQ(calls_.Find(attempts_[0]), nullptr);
  EXPECT_THAT(Names(1), ElementsAre("a"));
  EXPECT_NE(attempts_[0], attempts_[1]);
  ASSERT_NE(calls_.Find(attempts_[1]), nullptr);
  EXPECT_EQ(calls_.Take(attempts_[1]).payload, "a");
  EXPECT_EQ(calls_.Find(attempts_[1]), nullptr);
  EXPECT_EQ(calls_.size(), 0u);
  EXPECT_EQ(calls_.bytes(), 0u);
}

TEST_F(ReadOnlyCallsTest, WhenAnAttemptIsReturnedTwice_ItsSuccessorStays) {
  Add("a");
  EXPECT_THAT(Names(0), ElementsAre("a"));
  calls_.Return(attempts_[0]);
  EXPECT_THAT(Names(0), ElementsAre("a"));
  calls_.Return(attempts_[0]);
  EXPECT_THAT(Names(0), IsEmpty());
  EXPECT_NE(calls_.Find(attempts_[1]), nullptr);
}

TEST_F(ReadOnlyCallsTest, WhileWhatItIsAfterIsNotCommitted_NothingIsGranted) {
  Add("a", {}, {0, 5});
  const auto below_5 = [](WorkId after) { return after < WorkId{0, 5}; };
  EXPECT_THAT(calls_.Grants(0, 1, below_5), IsEmpty());
  EXPECT_EQ(calls_.Open(below_5), 0u);
  const std::vector<Grant> grants = calls_.Grants(0, 1, kAll);
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(FromWire(grants[0].after()), (WorkId{0, 5}));
}

TEST_F(ReadOnlyCallsTest, WhileACallOfAnEarlierPhaseHasNotEnded_LaterOnesAndIdsWait) {
  Add("a");
  EXPECT_EQ(calls_.held_from(), ReadOnlyCalls::kNone);
  calls_.EndPhase(7);
  calls_.EndPhase(9);  // of an empty phase
  Add("b");
  EXPECT_EQ(calls_.held_from(), 7u);
  EXPECT_THAT(Names(0), ElementsAre("a"));
  EXPECT_THAT(Names(1), IsEmpty());
  calls_.Take(attempts_[0]);
  EXPECT_EQ(calls_.held_from(), ReadOnlyCalls::kNone);
  EXPECT_THAT(Names(1), ElementsAre("b"));
}

TEST_F(ReadOnlyCallsTest, WhenADeadlineIsMissed_AnotherWorkerHasItNextAndTheThirdTimeIsTheLast) {
  Add("a");
  EXPECT_THAT(Names(0), ElementsAre("a"));
  EXPECT_EQ(calls_.Missed(attempts_[0]), OkStatus());
  EXPECT_THAT(Names(0), IsEmpty());
  EXPECT_THAT(Names(1), ElementsAre("a"));
  EXPECT_EQ(calls_.Missed(attempts_[1]), OkStatus());
  // The other one does not ask.
  int polls = 0;
  while (Names(1).empty() && polls < 100) ++polls;
  EXPECT_GT(polls, 1);
  EXPECT_LT(polls, 100);
  const Status error = calls_.Missed(attempts_[2]);
  EXPECT_EQ(error.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(error.message(), HasSubstr("on worker 0, worker 1, worker 1;"));
  EXPECT_NE(calls_.Find(attempts_[2]), nullptr);
}

TEST_F(ReadOnlyCallsTest, WhenWhatIsOpenIsTaken_WhatAWorkerHasStays) {
  Add("a");
  EXPECT_THAT(Names(0), ElementsAre("a"));
  Add("b");
  Add("c", {.worker = 1});
  EXPECT_EQ(calls_.TakeOpen().size(), 2u);
  EXPECT_EQ(calls_.size(), 1u);
  EXPECT_EQ(calls_.first(), 0u);
  EXPECT_THAT(Names(1), IsEmpty());
  EXPECT_EQ(calls_.TakeAll().size(), 1u);
  EXPECT_EQ(calls_.first(), ReadOnlyCalls::kNone);
}

TEST_F(ReadOnlyCallsTest, WhenThoseThatRunAreToStop_TheyAreGrantedNoMoreAndTakenOnce) {
  for (const char* name : {"a", "b", "c"}) Add(name);
  EXPECT_THAT(Names(0), ElementsAre("a", "b", "c"));
  EXPECT_THAT(calls_.StopRunning(), ElementsAre(attempts_[0], attempts_[1], attempts_[2]));
  EXPECT_THAT(calls_.TakeStopped(), IsEmpty()) << "its worker has them";
  calls_.Return(attempts_[0]);
  EXPECT_THAT(Names(1), IsEmpty());
  EXPECT_EQ(calls_.Open(kAll), 0u);
  EXPECT_EQ(calls_.TakeStopped().size(), 1u);
  EXPECT_EQ(calls_.Take(attempts_[1]).payload, "b") << "what it comes to counts";
  calls_.SetRegistered(0, false);
  EXPECT_THAT(Names(1), IsEmpty());
  Add("d");
  EXPECT_THAT(Names(1), ElementsAre("d")) << "what is scheduled later begins";
  EXPECT_EQ(calls_.TakeStopped().size(), 1u);
  EXPECT_THAT(calls_.TakeStopped(), IsEmpty());
  EXPECT_EQ(calls_.size(), 1u);
}

}  // namespace
}  // namespace pstrain
