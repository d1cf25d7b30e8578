// Functions that do not return in time, or are told to stop.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/library/worker/loop_fixture.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;

/// Functions of the test hang until it is open; it opens at the end.
class ClosureLoopSlotsTest : public ClosureLoopTest {
 protected:
  ~ClosureLoopSlotsTest() override {
    open_ = true;
    while (inside_ > 0) std::this_thread::yield();
  }
  ClosureOutcome Hang() {
    ++inside_;
    while (!open_) std::this_thread::yield();
    --inside_;
    return Succeed();
  }
  static void ExpectMissed(const Report& report) {
    EXPECT_TRUE(report.missed());
    EXPECT_EQ(report.shards().count(), 0U);
    EXPECT_FALSE(report.has_error());
    EXPECT_EQ(report.result(), "");
    EXPECT_EQ(FromWire(report.work_id()), kWorkId);
  }
  void SayStop(const std::vector<WorkId>& stop) {
    const MutexLock lock(mutex_);
    stop_ = stop;
  }
  void SayGiveUp(const std::vector<WorkId>& give_up) {
    const MutexLock lock(mutex_);
    give_up_ = give_up;
  }

  std::atomic<bool> open_{false};
  std::atomic<int> inside_{0};
};

TEST_F(ClosureLoopSlotsTest, WhenAnAttemptIsBeyondItsDeadline_WhatItComesToCountsNowhere) {
  deadline_ms_ = 50;
  threads_ = 2;
  FakeRunner runner([this](int call, ClosureReads&) {
    if (call == 0) return Hang();
    open_ = true;
    while (inside_ > 0) std::this_thread::yield();
    return Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 2U);
  ExpectMissed(reports()[0]);
  EXPECT_EQ(reports()[1].result(), "done");
  EXPECT_EQ(missed_attempts_, 1U);
}

TEST_F(ClosureLoopSlotsTest, WhenTheOnlyThreadHangs_AnotherOneTakesItsPlace) {
  deadline_ms_ = 50;
  threads_ = 1;
  FakeRunner runner([this](int call, ClosureReads&) { return call == 0 ? Hang() : Succeed(); });
  EXPECT_EQ(Run(runner), OkStatus()) << "it does not wait for the first";
  EXPECT_EQ(inside_, 1);
  EXPECT_FALSE(all_hang_);
  open_ = true;
  while (inside_ > 0) std::this_thread::yield();
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 2U);
  ExpectMissed(reports()[0]);
  EXPECT_EQ(reports()[1].result(), "done");
}

TEST_F(ClosureLoopSlotsTest, WhenAsManyHangAsRunAtATime_TheLoopEnds) {
  deadline_ms_ = 50;
  threads_ = 2;
  when_all_hang_ = ClosureLoop::WhenAllHang::kEnd;
  FakeRunner runner([this](int, ClosureReads&) { return Hang(); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_TRUE(all_hang_);
  EXPECT_GE(inside_, 2) << "a thread that took the place of the first may have begun another";
  ExpectApplied(0);
}

TEST_F(ClosureLoopSlotsTest, WhenAReadWaitsForAPs_ThatTimeIsNotTheFunctions) {
  deadline_ms_ = 100;
  FakeRunner runner([this](int, ClosureReads& reads) {
    servers_[0].reset();
    std::thread back([this] {
      const SteadyTime later = SteadyNow() + milliseconds(400);
      while (SteadyNow() < later) std::this_thread::yield();
      Serve(0, kAddresses[0]);
    });
    const SteadyTime begun = SteadyNow();
    EXPECT_TRUE(reads.Read({{kDense}, {}}).ok());
    EXPECT_GE(SteadyNow() - begun, milliseconds(deadline_ms_));
    back.join();
    return Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_FALSE(reports()[0].missed());
  ExpectApplied(1);
}

TEST_F(ClosureLoopSlotsTest, WhenAReadIsEarly_ItsFunctionMayTakeItsTime) {
  closures_.clear();
  closures_[{0, 1}] = {0, 1};
  deadline_ms_ = 50;
  threads_ = 2;
  FakeRunner runner([this](int, ClosureReads& reads) {
    if (reads.Read({{kDense}, {}}).ok()) return Succeed();
    return Hang();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ASSERT_EQ(reports().size(), 2U);
  EXPECT_EQ(reports()[0].early().count(), 1U);
  EXPECT_FALSE(reports()[1].missed()) << "the chief has heard of the attempt";
}

TEST_F(ClosureLoopSlotsTest, WhenAnAttemptWasGivenUp_ItReadsNothingMore) {
  deadline_ms_ = 50;
  FakeRunner runner([](int call, ClosureReads& reads) {
    if (call > 0) return Succeed();
    while (!reads.StopToken().stop_requested()) std::this_thread::yield();
    EXPECT_EQ(reads.Read({{kDense}, {}}).status().code(), StatusCode::kCancelled);
    return Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ExpectApplied(1);
}

TEST_F(ClosureLoopSlotsTest, WhenTheChiefSaysStop_TheFunctionHearsItAndWhatItReturnsCounts) {
  FakeRunner runner([this](int, ClosureReads& reads) {
    EXPECT_FALSE(reads.StopToken().stop_requested());
    SayStop({kWorkId});
    while (!reads.StopToken().stop_requested()) std::this_thread::yield();
    return Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), "done");
}

TEST_F(ClosureLoopSlotsTest, WhenTheChiefGivesItUp_ItIsReportedThoughItHasNoDeadline) {
  threads_ = 1;
  FakeRunner runner([this](int call, ClosureReads&) {
    if (call > 0) return Succeed();
    SayGiveUp({kWorkId});
    ++inside_;
    while (reports().empty()) std::this_thread::yield();
    SayGiveUp({});
    --inside_;
    return Hang();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  ExpectMissed(reports()[0]);
  ExpectApplied(1);
}

TEST_F(ClosureLoopSlotsTest, WhenWhatIsToStopHasNotBegun_ItIsGivenBack) {
  closures_ = {{{0, 0}, {}}, {{0, 1}, {}}};
  threads_ = 1;
  FakeRunner runner([this](int call, ClosureReads&) {
    if (call > 0) return Succeed();
    SayStop({{0, 1}});
    while (in_flight_ != 1) std::this_thread::yield();
    SayStop({});
    return Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 2);
  EXPECT_EQ(reports().size(), 2U);
}

TEST_F(ClosureLoopSlotsTest, WhenTheWorkerLeaves_AFunctionThatHangsIsLeftAtTheBound) {
  grace_ = std::chrono::seconds(1);
  FakeRunner runner([this](int, ClosureReads&) {
    session_.load()->Leave();
    loop_.load()->Leave();
    return Hang();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(inside_, 1);
  EXPECT_EQ(reports().size(), 0U) << "it has not missed a deadline: it is only given back";
}

TEST_F(ClosureLoopSlotsTest, WhenTheWorkerLeaves_AFunctionThatReturnsStillCounts) {
  FakeRunner runner([this](int, ClosureReads& reads) {
    session_.load()->Leave();
    loop_.load()->Leave();
    while (!reads.StopToken().stop_requested()) std::this_thread::yield();
    return Succeed();
  });
  EXPECT_EQ(Run(runner), OkStatus());
  ExpectApplied(1);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), "done");
}

}  // namespace
}  // namespace pstrain
