#include "library/worker/running_calls.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "base/manual_clock.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using Why = RunningCalls::Why;
using Outcome = RunningCalls::Outcome;

constexpr WorkId kCall{0, 7};
constexpr std::uint64_t kPlace = 40;

Grant GrantOf(std::uint64_t deadline_ms, WorkId work_id = kCall) {
  Grant grant;
  ToWire(work_id, grant.mutable_work_id());
  grant.set_kind(1);
  grant.set_payload("what to do");
  grant.set_chief_term(3);
  grant.set_deadline_ms(deadline_ms);
  return grant;
}

class RunningCallsTest : public testing::Test {
 protected:
  ManualClock clock_;
  RunningCalls running_{clock_};
  const RunningCalls::Slot slot_ = running_.AddSlot();
};

TEST_F(RunningCallsTest, WhenItReturnsWithinItsDeadline_ItCounts) {
  const Grant grant = GrantOf(100);
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(milliseconds(99));
  EXPECT_FALSE(running_.TakeNews().any());
  EXPECT_EQ(running_.Returned(slot_), Outcome::kCounts);
  clock_.Advance(milliseconds(1000));
  EXPECT_FALSE(running_.TakeNews().any()) << "it does not run any more";
}

TEST_F(RunningCallsTest, WhenItIsBeyondItsDeadline_ItIsGivenUpOnceAndDoesNotCount) {
  const Grant grant = GrantOf(100);
  running_.Begin(slot_, grant, kPlace);
  const std::stop_token stop = running_.StopToken(slot_);
  clock_.Advance(milliseconds(100));
  RunningCalls::News news = running_.TakeNews();
  ASSERT_EQ(news.given_up.size(), 1U);
  EXPECT_EQ(FromWire(news.given_up[0].grant.work_id()), kCall);
  EXPECT_EQ(news.given_up[0].grant.chief_term(), 3U);
  EXPECT_EQ(news.given_up[0].grant.payload(), "");
  EXPECT_EQ(news.given_up[0].place, kPlace);
  EXPECT_EQ(news.given_up[0].why, Why::kMissed);
  EXPECT_TRUE(news.hanging.empty());
  ASSERT_EQ(news.stops.size(), 1U);
  EXPECT_FALSE(stop.stop_requested()) << "whoever takes the news does that, without a lock";
  news.stops[0].request_stop();
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_FALSE(running_.TakeNews().any());
  EXPECT_FALSE(running_.BeginRead(slot_));
  EXPECT_EQ(running_.Returned(slot_), Outcome::kGivenUp);
  EXPECT_FALSE(running_.WrittenOff(slot_));
}

TEST_F(RunningCallsTest, WhenItReturnsBeforeAnybodyLooks_ItCounts) {
  const Grant grant = GrantOf(100);
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(milliseconds(500));
  EXPECT_EQ(running_.Returned(slot_), Outcome::kCounts);
  EXPECT_FALSE(running_.TakeNews().any());
}

TEST_F(RunningCallsTest, WhileItReads_ItsClockStands) {
  const Grant grant = GrantOf(100);
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(milliseconds(60));
  EXPECT_TRUE(running_.BeginRead(slot_));
  clock_.Advance(std::chrono::hours(1));
  EXPECT_FALSE(running_.TakeNews().any());
  EXPECT_TRUE(running_.EndRead(slot_));
  clock_.Advance(milliseconds(39));
  EXPECT_FALSE(running_.TakeNews().any());
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(running_.TakeNews().given_up.size(), 1U);
}

TEST_F(RunningCallsTest, WithoutADeadline_ItRunsForEver) {
  const Grant grant = GrantOf(0);
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(std::chrono::hours(10000));
  EXPECT_FALSE(running_.TakeNews().any());
}

TEST_F(RunningCallsTest, WhenTheDeadlineIsTooLong_ItIsTheLongest) {
  const Grant grant = GrantOf(~std::uint64_t{0});
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(RunningCalls::kMostDeadline - milliseconds(1));
  EXPECT_FALSE(running_.TakeNews().any());
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(running_.TakeNews().given_up.size(), 1U);
}

TEST_F(RunningCallsTest, WhenItIsBeyondTwiceItsDeadline_ItHangs) {
  const Grant grant = GrantOf(100);
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(milliseconds(100));
  EXPECT_TRUE(running_.TakeNews().hanging.empty());
  clock_.Advance(milliseconds(99));
  EXPECT_FALSE(running_.TakeNews().any());
  EXPECT_EQ(running_.hanging(), 0U);
  clock_.Advance(milliseconds(1));
  const RunningCalls::News news = running_.TakeNews();
  ASSERT_EQ(news.hanging.size(), 1U);
  EXPECT_EQ(news.hanging[0].slot, slot_);
  EXPECT_EQ(news.hanging[0].ran, milliseconds(200));
  EXPECT_EQ(news.hanging[0].grant.payload(), "what to do");
  EXPECT_TRUE(news.given_up.empty());
  EXPECT_EQ(running_.hanging(), 1U);
  EXPECT_EQ(running_.Returned(slot_), Outcome::kWrittenOff);
  EXPECT_TRUE(running_.WrittenOff(slot_));
  EXPECT_EQ(running_.hanging(), 0U);
}

TEST_F(RunningCallsTest, WhenItsCallIsToStop_ItIsToldOnceAndStillCounts) {
  const Grant grant = GrantOf(0);
  running_.Begin(slot_, grant, kPlace);
  running_.Stop({0, 8});
  EXPECT_FALSE(running_.TakeNews().any());
  running_.Stop(kCall);
  running_.Stop(kCall);
  EXPECT_EQ(running_.TakeNews().stops.size(), 1U);
  EXPECT_EQ(running_.Returned(slot_), Outcome::kCounts);
}

TEST_F(RunningCallsTest, WhenTheChiefGivesItUp_ItMaySoonHang) {
  const Grant grant = GrantOf(0);
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(milliseconds(500));
  running_.GiveUp(kCall);
  const RunningCalls::News news = running_.TakeNews();
  ASSERT_EQ(news.given_up.size(), 1U);
  EXPECT_EQ(news.given_up[0].why, Why::kCancelled);
  EXPECT_TRUE(news.hanging.empty());
  clock_.Advance(RunningCalls::kCourtesy);
  EXPECT_EQ(running_.TakeNews().hanging.size(), 1U);
}

TEST_F(RunningCallsTest, WhileItReads_ItIsNotGivenUp) {
  const Grant grant = GrantOf(0);
  running_.Begin(slot_, grant, kPlace);
  EXPECT_TRUE(running_.BeginRead(slot_));
  running_.GiveUp(kCall);
  clock_.Advance(std::chrono::hours(1));
  EXPECT_FALSE(running_.TakeNews().any()) << "the read may give it back";
  EXPECT_TRUE(running_.EndRead(slot_));
  EXPECT_EQ(running_.TakeNews().given_up.size(), 1U);
  EXPECT_FALSE(running_.BeginRead(slot_));
}

TEST_F(RunningCallsTest, WhenAReadGivesItBack_NobodySaysThatItMissedItsDeadline) {
  const Grant grant = GrantOf(100);
  running_.Begin(slot_, grant, kPlace);
  EXPECT_TRUE(running_.BeginRead(slot_));
  EXPECT_TRUE(running_.GiveBack(slot_));
  EXPECT_FALSE(running_.EndRead(slot_));
  EXPECT_EQ(running_.TakeNews().stops.size(), 1U);
  clock_.Advance(milliseconds(199));
  EXPECT_FALSE(running_.TakeNews().any());
  clock_.Advance(milliseconds(1));
  const RunningCalls::News news = running_.TakeNews();
  EXPECT_TRUE(news.given_up.empty());
  EXPECT_EQ(news.hanging.size(), 1U) << "its thread is needed all the same";
}

TEST_F(RunningCallsTest, WhenAnAttemptHangs_AWordOfItsCallIsOfTheNextOne) {
  const Grant grant = GrantOf(100);
  running_.Begin(slot_, grant, kPlace);
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(running_.TakeNews().hanging.size(), 1U);
  const RunningCalls::Slot other = running_.AddSlot();
  running_.Begin(other, grant, kPlace + 1);
  const std::stop_token stop = running_.StopToken(other);
  running_.Stop(kCall);
  for (std::stop_source& source : running_.TakeNews().stops) source.request_stop();
  EXPECT_TRUE(stop.stop_requested());
}

TEST_F(RunningCallsTest, WhenTheWorkerLeaves_FunctionsAreToldAndGivenUpAtTheBound) {
  const Grant grant = GrantOf(0);
  running_.Begin(slot_, grant, kPlace);
  running_.Leave(milliseconds(100));
  running_.Leave(milliseconds(1));
  EXPECT_EQ(running_.TakeNews().stops.size(), 1U);
  clock_.Advance(milliseconds(99));
  EXPECT_FALSE(running_.TakeNews().any());
  clock_.Advance(milliseconds(1));
  const RunningCalls::News news = running_.TakeNews();
  ASSERT_EQ(news.given_up.size(), 1U);
  EXPECT_EQ(news.given_up[0].why, Why::kLeft);
  EXPECT_EQ(news.hanging.size(), 1U);
  EXPECT_TRUE(news.over) << "nobody waits for it";
  EXPECT_FALSE(running_.TakeNews().any());
}

TEST_F(RunningCallsTest, WhenAllHaveEnded_ItIsOverOnceTheWorkerLeaves) {
  running_.Ended(slot_);
  EXPECT_FALSE(running_.TakeNews().over);
  running_.Leave(milliseconds(100));
  EXPECT_TRUE(running_.TakeNews().over);
}

TEST_F(RunningCallsTest, WhenAThreadGoesOn_ItIsNotOver) {
  const RunningCalls::Slot other = running_.AddSlot();
  const Grant grant = GrantOf(0);
  running_.Begin(slot_, grant, kPlace);
  running_.Leave(milliseconds(100));
  clock_.Advance(milliseconds(100));
  EXPECT_FALSE(running_.TakeNews().over) << "it may push, and is waited for";
  running_.Ended(other);
  EXPECT_TRUE(running_.TakeNews().over);
}

TEST_F(RunningCallsTest, WhenAReadEndsAfterTheWorkerHasLeft_ItIsOver) {
  const Grant grant = GrantOf(0);
  running_.Begin(slot_, grant, kPlace);
  EXPECT_TRUE(running_.BeginRead(slot_));
  running_.Leave(milliseconds(100));
  EXPECT_EQ(running_.TakeNews().stops.size(), 1U);
  clock_.Advance(milliseconds(100));
  EXPECT_FALSE(running_.TakeNews().any());
  EXPECT_TRUE(running_.EndRead(slot_));
  const RunningCalls::News news = running_.TakeNews();
  ASSERT_EQ(news.given_up.size(), 1U);
  EXPECT_EQ(news.given_up[0].why, Why::kLeft);
  EXPECT_TRUE(news.over);
}

}  // namespace
}  // namespace pstrain
