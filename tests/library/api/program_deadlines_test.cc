// Functions of a program that do not return in time, and those that are told to stop.
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;

/// How many attempts of a function are to hang at the gate, and how many have begun.
std::atomic<int> hanging{0};
std::atomic<int> begun{0};

Result<Values> HangAndAdd(Step& step, std::int64_t amount) {
  ++begun;
  if (hanging-- > 0) PassTheGate();
  return AddAmount(step, amount);
}
const Function kHangAndAdd{"HangAndAdd", HangAndAdd, {.deadline = milliseconds(100)}};

/// Until they are told.
Result<Values> AddWhenToldTo(Step& step, std::int64_t amount) {
  ++begun;
  while (!step.stop_requested()) std::this_thread::yield();
  return AddAmount(step, amount);
}
const Function kAddWhenToldTo{"AddWhenToldTo", AddWhenToldTo};
const Function kStopsByItsDeadline{
    "StopsByItsDeadline", AddWhenToldTo, {.deadline = milliseconds(100)}};

Result<Values> CancelWhenToldTo(Step& step, std::int64_t amount) {
  PSTRAIN_RETURN_IF_ERROR(AddWhenToldTo(step, amount).status());
  return CancelledError("told to");
}
const Function kCancelWhenToldTo{"CancelWhenToldTo", CancelWhenToldTo};

Result<Values> Cancels(Step& /*step*/, std::int64_t /*amount*/) { return CancelledError("so"); }
const Function kCancels{"Cancels", Cancels};

void AwaitBegun(int attempts) {
  while (begun < attempts) std::this_thread::yield();
}

class ProgramDeadlinesTest : public CoordinatorFixture {
 protected:
  ProgramDeadlinesTest() {
    hanging = 0;
    begun = 0;
  }
  ~ProgramDeadlinesTest() override {
    gate_is_open = true;
    program_.reset();
    strategy_.reset();
  }
  /// As Start, with other options of the coordinator.
  void StartWith(const CoordinatorOptions& options) {
    Result<ParameterServerStrategy> strategy =
        ParameterServerStrategy::Create({.ps = 2, .workers = 2, .shards = 3});
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    strategy_ = *std::move(strategy);
    program_ = *ClusterCoordinator::Create(*strategy_, options);
    const auto scope = strategy_->Scope();
    ASSERT_TRUE(
        Variable::Create(kCount, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64)
            .ok());
  }
};

TEST_F(ProgramDeadlinesTest, WhenAnAttemptMissesItsDeadline_AnotherOneCountsAndItNever) {
  Start();
  gate_is_open = false;
  hanging = 1;
  const RemoteValue value = Schedule(kHangAndAdd, 5);
  const Result<Values> fetched = value.Fetch(kSoon);
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  EXPECT_EQ(begun, 2);
  gate_is_open = true;
  for (int i = 0; i < 20; ++i) Schedule(kAdd, 1);
  EXPECT_EQ(Count(), 25);
}

TEST_F(ProgramDeadlinesTest, WithOneWorker_ItHasTheCallAgain) {
  StartOneWorker(1);
  gate_is_open = false;
  hanging = 2;
  EXPECT_TRUE(Schedule(kHangAndAdd, 5).Fetch(kSoon).ok());
  EXPECT_EQ(Count(), 5);
}

TEST_F(ProgramDeadlinesTest, WhenThreeAttemptsMissIt_TheCallIsAnError) {
  Start();
  gate_is_open = false;
  hanging = 3;
  const RemoteValue value = Schedule(kHangAndAdd, 5);
  const Status error = ErrorOf(value);
  EXPECT_EQ(error.code(), StatusCode::kDeadlineExceeded);
  for (const char* part : {"HangAndAdd", "100 ms", "worker 0", "worker 1"}) {
    EXPECT_NE(error.message().find(part), std::string::npos) << error.ToString();
  }
  EXPECT_EQ(coordinator().Join(kSoon), error);
  EXPECT_EQ(coordinator().FailedCalls(), 1U);
  gate_is_open = true;
  Schedule(kHangAndAdd, 2);
  EXPECT_EQ(Count(), 2) << "what has hung counts nowhere";
}

TEST_F(ProgramDeadlinesTest, WhenItHearsOfItsDeadline_WhatItReturnsDoesNotCount) {
  Start();
  EXPECT_EQ(ErrorOf(Schedule(kStopsByItsDeadline, 5)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(begun, 3);
  EXPECT_FALSE(coordinator().Join(kSoon).ok());
  EXPECT_EQ(Count(), 0);
}

TEST_F(ProgramDeadlinesTest, WhenACallFails_ThoseThatRunAreToldToStop) {
  StartOneWorker(3);
  const RemoteValue adds = Schedule(kAddWhenToldTo, 5);
  const RemoteValue cancels = Schedule(kCancelWhenToldTo, 70);
  AwaitBegun(2);
  Schedule(kFail, "no");
  EXPECT_EQ(coordinator().Join(kSoon), AbortedError("Fail: no"));
  EXPECT_TRUE(adds.Fetch(kSoon).ok());
  EXPECT_EQ(ErrorOf(cancels).code(), StatusCode::kCancelled);
  EXPECT_EQ(coordinator().FailedCalls(), 1U) << "it is void, and no error";
  Schedule(kAdd, 300);
  EXPECT_EQ(Count(), 305) << "the coordinator goes on";
}

TEST_F(ProgramDeadlinesTest, WhenNobodyHasToldItTo_CancelledIsAnErrorAsAnyOther) {
  StartOneWorker(1);
  Schedule(kCancels, 5);
  EXPECT_EQ(coordinator().Join(kSoon).code(), StatusCode::kCancelled);
  EXPECT_EQ(coordinator().FailedCalls(), 1U);
}

TEST_F(ProgramDeadlinesTest, WhenOneDoesNotStop_ItIsGivenUpAfterTheTimeout) {
  StartWith({.errors = FailFast{}, .cancel_timeout = milliseconds(300)});
  gate_is_open = false;
  const RemoteValue running = Schedule(kHoldAndAdd, 5);
  AwaitAtTheGate(1);
  Schedule(kFail, "no");
  EXPECT_EQ(coordinator().Join(kSoon), AbortedError("Fail: no"));
  EXPECT_EQ(ErrorOf(running).code(), StatusCode::kCancelled);
  EXPECT_EQ(at_the_gate, 1) << "it is not run again";
  Schedule(kAdd, 3);
  EXPECT_EQ(Count(), 3);
  gate_is_open = true;
  EXPECT_EQ(Count(), 3);
}

TEST_F(ProgramDeadlinesTest, WithinTheBudget_NobodyIsToldToStop) {
  StartWith({.errors = Budget{1}});
  gate_is_open = false;
  const RemoteValue running = Schedule(kHoldAndAdd, 5);
  AwaitAtTheGate(1);
  EXPECT_FALSE(Schedule(kFail, "no").Fetch(kSoon).ok());
  gate_is_open = true;
  EXPECT_TRUE(running.Fetch(kSoon).ok());
  EXPECT_EQ(Count(), 5);
}

// What the chief and the workers take when a program ends with a function that hangs is bounded by
// their grace period.
TEST_F(ProgramDeadlinesTest, WhenAProgramIsGivenUpThatHangs_ItEnds) {
  Start();
  gate_is_open = false;
  Schedule(kHoldAndAdd, 5);
  AwaitAtTheGate(1);
  program_.reset();
  strategy_.reset();
  EXPECT_FALSE(gate_is_open);
}

TEST_F(ProgramDeadlinesTest, WhenTheTimeoutIsNotPositive_ItIsRefused) {
  Start();
  EXPECT_EQ(ClusterCoordinator::Create(*strategy_,
                                       {.errors = FailFast{}, .cancel_timeout = milliseconds(-1)})
                .status(),
            InvalidArgumentError("CoordinatorOptions.cancel_timeout is -1 ms, and has to be "
                                 "positive"));
}

}  // namespace
}  // namespace pstrain
