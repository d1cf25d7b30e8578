// What TensorFlow's tests of its closure queue say, of a coordinator with all its roles: numbers 80
// to 91 of docs/tensorflow-map.md.
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <cstdint>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;

class CoordinatorQueueTest : public CoordinatorFixture {};

TEST_F(CoordinatorQueueTest, WhileACallRuns_NothingIsDone) {
  StartOneWorker(1);
  gate_is_open = false;
  const RemoteValue held = Schedule(kHoldAndAdd, 3);
  AwaitAtTheGate(1);
  EXPECT_FALSE(*coordinator().Done());
  EXPECT_EQ(ErrorOf(held, kNow).code(), StatusCode::kDeadlineExceeded);
  gate_is_open = true;
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_TRUE(*coordinator().Done());
  EXPECT_EQ(*held.Fetch(kNow), (Values{{"amount", std::int64_t{3}}}));
}

TEST_F(CoordinatorQueueTest, WhenAllIsDone_JoinReturnsImmediatelyAsOftenAsItIsCalled) {
  Start();
  for (int i = 0; i < 5; ++i) Schedule(kAdd, 1);
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(coordinator().Join(kNow), OkStatus());
  EXPECT_EQ(Count(), 5);
}

TEST_F(CoordinatorQueueTest, WhenOneHasFailedAndAnotherRuns_JoinWaitsForIt) {
  StartOneWorker(2);
  gate_is_open = false;
  const RemoteValue held = Schedule(kHoldAndAdd, 3);
  AwaitAtTheGate(1);
  const RemoteValue bad = Schedule(kFail, "the first");
  const Status error = AbortedError("Fail: the first");
  EXPECT_EQ(ErrorOf(bad), error);
  EXPECT_EQ(coordinator().Join(milliseconds(50)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(*coordinator().Done());
  gate_is_open = true;
  EXPECT_EQ(coordinator().Join(kSoon), error);
  EXPECT_TRUE(*coordinator().Done());
  EXPECT_EQ(ErrorOf(held, kNow), OkStatus()) << "each has its own outcome";
  EXPECT_EQ(Count(), 3);
}

TEST_F(CoordinatorQueueTest, WhenOneHasFailedAndAnotherRuns_ScheduleSaysItAndDoesNotWait) {
  StartOneWorker(2);
  gate_is_open = false;
  const RemoteValue held = Schedule(kHoldAndFail, "too late");
  AwaitAtTheGate(1);
  const RemoteValue bad = Schedule(kFail, "the first");
  EXPECT_EQ(ErrorOf(bad), AbortedError("Fail: the first"));
  EXPECT_EQ(coordinator().Schedule(kAdd, 1).status(), ErrorOf(bad));
  EXPECT_EQ(ErrorOf(held, kNow).code(), StatusCode::kDeadlineExceeded);
  const RemoteValue next = Schedule(kAdd, 7);
  EXPECT_EQ(ErrorOf(next), OkStatus());
  gate_is_open = true;
  EXPECT_EQ(ErrorOf(held), AbortedError("HoldAndFail: too late"));
  EXPECT_EQ(Count(), 7) << "what was scheduled before the error was said is no second error";
}

TEST_F(CoordinatorQueueTest, WhenScheduleSaysAnError_WhatNobodyHasBegunIsCancelled) {
  StartOneWorker(1);
  gate_is_open = false;
  const RemoteValue bad = Schedule(kHoldAndFail, "no");
  std::vector<RemoteValue> queued;
  for (int i = 0; i < 40; ++i) queued.push_back(Schedule(kAdd, 1));
  gate_is_open = true;
  const Status error = ErrorOf(bad);
  EXPECT_EQ(error, AbortedError("HoldAndFail: no"));
  EXPECT_EQ(coordinator().Schedule(kAdd, 1).status(), error);
  int succeeded = 0;
  for (const RemoteValue& value : queued) {
    const Status status = ErrorOf(value);
    succeeded += status.ok() ? 1 : 0;
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kCancelled) << status.ToString();
  }
  EXPECT_LE(succeeded, 4) << "a worker holds a few";
  Schedule(kAdd, 100);
  EXPECT_EQ(Count(), 100 + succeeded);
}

TEST_F(CoordinatorQueueTest, WhenACallHasFailed_DoneSaysItOnce) {
  Start();
  const RemoteValue bad = Schedule(kFail, "no");
  const Status error = ErrorOf(bad);
  EXPECT_EQ(coordinator().Done().status(), error);
  EXPECT_TRUE(*coordinator().Done());
  EXPECT_EQ(coordinator().Join(kNow), OkStatus());
}

TEST_F(CoordinatorQueueTest, WhenJoinHasSaidAnError_ItGoesOnAsIfThereHadBeenNone) {
  Start();
  for (int round = 1; round <= 3; ++round) {
    Schedule(kFail, "no");
    EXPECT_EQ(coordinator().Join(kSoon), AbortedError("Fail: no"));
    EXPECT_EQ(coordinator().Join(kNow), OkStatus());
    for (int i = 0; i < 5; ++i) Schedule(kAdd, 2);
    EXPECT_EQ(Count(), 10 * round);
  }
}

TEST_F(CoordinatorQueueTest, WhenTenWorkersTakeThousandsOfCalls_EachCountsOnce) {
  Start({.ps = 2, .workers = 10, .shards = 3});
  constexpr std::int64_t kCalls = 5000;
  for (std::int64_t i = 0; i < kCalls; ++i) Schedule(kAdd, i);
  EXPECT_EQ(Count(), kCalls * (kCalls - 1) / 2);
  EXPECT_EQ(strategy_->Iterations(), kCalls + 1);
}

TEST_F(CoordinatorQueueTest, WhenACallHangsAfterAnError_JoinReturnsAtItsDeadline) {
  StartOneWorker(2);
  gate_is_open = false;
  const RemoteValue hangs = Schedule(kHoldAndAdd, 1);
  AwaitAtTheGate(1);
  EXPECT_EQ(ErrorOf(Schedule(kFail, "no")), AbortedError("Fail: no"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(coordinator().Join(milliseconds(20)),
              DeadlineExceededError("1 calls have not ended yet"));
  }
  EXPECT_EQ(ErrorOf(hangs, milliseconds(20)).code(), StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace pstrain
