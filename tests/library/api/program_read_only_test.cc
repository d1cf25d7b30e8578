// Functions that change nothing (FunctionOptions::writes) in programs whose roles are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

const VariableRef kTable{"table"};

const Function kLook{"Look", ReadCount, {.writes = false}};

Result<Values> HoldAndLook(Step& step) {
  PassTheGate();
  return ReadCount(step);
}
const Function kHoldAndLook{"HoldAndLook", HoldAndLook, {.writes = false}};

Result<Values> FailToLook(Step& /*step*/, const std::string& why) { return AbortedError(why); }
const Function kFailToLook{"FailToLook", FailToLook, {.writes = false}};

/// `how`: gradient, assign, add, or add of rows.
Result<Values> Change(Step& step, std::int64_t how) {
  if (how == 0) step.Gradient(kCount, std::int64_t{1});
  if (how == 1) step.Assign(kCount, std::int64_t{1});
  if (how == 2) step.Add(kCount, std::int64_t{1});
  if (how == 3) {
    step.Add(kTable, IndexedSlices{.indices = Tensor::From(std::vector<std::int64_t>{0}),
                                   .values = Tensor::From(std::vector<float>{1})});
  }
  return Values{};
}
const Function kChange{"ChangeWithoutWrites", Change, {.writes = false}};

Result<Values> Measure(Step& step, std::int64_t amount) {
  step.metric("measured").Add(static_cast<double>(amount), 1);
  return Values{{"worker", step.worker_index()}};
}
const Function kMeasure{"Measure", Measure, {.writes = false}};
const Function kMeasureWithAnId{"MeasureWithAnId", Measure};

Result<Values> AddValues(Step& step, const Values& values) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto count, values.scalar<std::int64_t>("count"));
  step.Add(kCount, count);
  return Values{};
}
const Function kAddValues{"AddValues", AddValues};

std::int64_t CountIn(const RemoteValue& value) {
  const Result<Values> fetched = value.Fetch(kSoon);
  EXPECT_TRUE(fetched.ok()) << fetched.status().ToString();
  return fetched.ok() ? *fetched->scalar<std::int64_t>("count") : -1;
}

using ReadOnlyFunctionTest = CoordinatorFixture;

TEST_F(ReadOnlyFunctionTest, WhenItReads_ItSeesWhatThePhasesBeforeHaveLeftAndTakesNoId) {
  Start();
  for (int i = 0; i < 10; ++i) Schedule(kAdd, 3);
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  const std::int64_t before = strategy_->Iterations();
  EXPECT_EQ(CountIn(Schedule(kLook)), 30);
  EXPECT_EQ(strategy_->Iterations(), before);
  Schedule(kAdd, 1);
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(strategy_->Iterations(), before + 1);
}

// Half of them are of the phase of an add, the other half behind it.
TEST_F(ReadOnlyFunctionTest, WhenManyStandBesideUpdates_EachSeesAllOfEarlierPhasesAndNoneOfLater) {
  Start({.ps = 2, .workers = 2, .shards = 3});
  constexpr std::int64_t kPhases = 40;
  std::vector<RemoteValue> values;
  for (std::int64_t i = 0; i < kPhases; ++i) {
    for (int k = 0; k < 5; ++k) {
      values.push_back(Schedule(kLook));
      Schedule(kAdd, 1);
    }
    ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  }
  for (std::int64_t i = 0; i < kPhases; ++i) {
    for (std::int64_t k = 0; k < 5; ++k) {
      const std::int64_t seen = CountIn(values[static_cast<std::size_t>(5 * i + k)]);
      EXPECT_GE(seen, 5 * i);
      EXPECT_LE(seen, 5 * (i + 1));
    }
  }
  EXPECT_EQ(Count(), 5 * kPhases);
}

TEST_F(ReadOnlyFunctionTest, WhileOneRuns_JoinAndWhatIsOfALaterPhaseWaitForIt) {
  StartOneWorker(2);
  gate_is_open = false;
  const RemoteValue held = Schedule(kHoldAndLook);
  AwaitAtTheGate(1);
  EXPECT_FALSE(*coordinator().Done());
  EXPECT_EQ(coordinator().Join(std::chrono::milliseconds(50)).code(),
            StatusCode::kDeadlineExceeded);
  const RemoteValue later = Schedule(kAdd, 1);
  const RemoteValue later_look = Schedule(kLook);
  EXPECT_EQ(ErrorOf(later, std::chrono::milliseconds(300)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ErrorOf(later_look, kNow).code(), StatusCode::kDeadlineExceeded);
  gate_is_open = true;
  EXPECT_EQ(CountIn(held), 0);
  EXPECT_EQ(ErrorOf(later), OkStatus());
  EXPECT_EQ(Count(), 1);
}

TEST_F(ReadOnlyFunctionTest, WhenAVariableIsAssignedWhileOneRuns_ItSeesTheValueBefore) {
  StartOneWorker(2);
  gate_is_open = false;
  const RemoteValue held = Schedule(kHoldAndLook);
  AwaitAtTheGate(1);
  std::jthread opens([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate_is_open = true;
  });
  const auto scope = strategy_->Scope();
  auto count =
      Variable::Create(kCount, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64);
  ASSERT_TRUE(count.ok()) << count.status().ToString();
  EXPECT_EQ(count->Assign(Tensor(std::int64_t{70}), kSoon), OkStatus());
  EXPECT_EQ(CountIn(held), 0);
  EXPECT_EQ(CountIn(Schedule(kLook)), 70);
}

TEST_F(ReadOnlyFunctionTest, WhenItChangesAVariable_ThatIsItsErrorAndNothingIsChanged) {
  Start();
  {
    const auto scope = strategy_->Scope();
    ASSERT_TRUE(
        Variable::Create(kTable, Shape{4, 1}, initializers::Zeros(), optimizers::None{}).ok());
  }
  for (std::int64_t how = 0; how < 4; ++how) {
    const Status error = ErrorOf(Schedule(kChange, how));
    EXPECT_EQ(error.code(), StatusCode::kFailedPrecondition) << how << ": " << error.ToString();
    EXPECT_THAT(error.message(), HasSubstr("ChangeWithoutWrites"));
    EXPECT_THAT(error.message(), HasSubstr("is registered with writes = false"));
    EXPECT_EQ(coordinator().Join(kSoon), error);
  }
  EXPECT_EQ(Count(), 0);
  EXPECT_EQ(coordinator().FailedCalls(), 4u);
}

TEST_F(ReadOnlyFunctionTest, WhenOneFails_WhatNobodyHasBegunIsVoidedOfBothKinds) {
  StartOneWorker(1);
  gate_is_open = false;
  const RemoteValue held = Schedule(kHoldAndLook);
  AwaitAtTheGate(1);
  const RemoteValue fails = Schedule(kFailToLook, "as it should");
  std::vector<RemoteValue> others;
  for (int i = 0; i < 50; ++i) {
    others.push_back(Schedule(kLook));
    others.push_back(Schedule(kAdd, 1));
  }
  gate_is_open = true;
  EXPECT_EQ(ErrorOf(fails).code(), StatusCode::kAborted);
  const Status told = coordinator().Join(kSoon);
  EXPECT_EQ(told.code(), StatusCode::kAborted) << told.ToString();
  EXPECT_THAT(told.message(), HasSubstr("FailToLook"));
  EXPECT_EQ(ErrorOf(others[98]).code(), StatusCode::kCancelled);
  EXPECT_EQ(ErrorOf(others[99]).code(), StatusCode::kCancelled);
  EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(CountIn(held), 0);
}

TEST_F(ReadOnlyFunctionTest, WhenACallWithAnIdFails_ReadOnlyOnesAreVoidedToo) {
  StartOneWorker(1);
  gate_is_open = false;
  const RemoteValue fails = Schedule(kHoldAndFail, "as it should");
  AwaitAtTheGate(1);
  std::vector<RemoteValue> others;
  for (int i = 0; i < 50; ++i) others.push_back(Schedule(kLook));
  gate_is_open = true;
  EXPECT_EQ(coordinator().Join(kSoon).code(), StatusCode::kAborted);
  EXPECT_EQ(ErrorOf(others.back()).code(), StatusCode::kCancelled);
}

TEST_F(ReadOnlyFunctionTest, WhenThereIsABudget_ItsErrorsCountToo) {
  Start();
  // FailedCalls is what the budget is compared with.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ErrorOf(Schedule(kFailToLook, "as it should")).code(), StatusCode::kAborted);
    EXPECT_EQ(coordinator().Join(kSoon).code(), StatusCode::kAborted);
  }
  EXPECT_EQ(coordinator().FailedCalls(), 3u);
}

TEST_F(ReadOnlyFunctionTest, WhenItAddsToAMetric_ThatCountsOnceInTheOrderOfCalls) {
  Start({.ps = 2, .workers = 2, .shards = 3});
  double sum = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    if (i % 3 == 0) {
      Schedule(kMeasureWithAnId, i);
    } else {
      Schedule(kMeasure, i);
    }
    sum += static_cast<double>(i);
  }
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(coordinator().metric("measured").Value(), sum / 200);
  coordinator().metric("measured").Reset();
  Schedule(kMeasure, 7);
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  EXPECT_EQ(coordinator().metric("measured").Value(), 7);
}

TEST_F(ReadOnlyFunctionTest, WhenItsValueIsAnArgument_ALaterCallGetsIt) {
  Start();
  Schedule(kAdd, 21);
  ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
  const Result<Values> seen = Schedule(kLook).Fetch(kSoon);
  ASSERT_TRUE(seen.ok()) << seen.status().ToString();
  Schedule(kAddValues, *seen);
  EXPECT_EQ(Count(), 42);
}

TEST_F(ReadOnlyFunctionTest, WhenItIsForAWorker_ThatOneRunsIt) {
  Start({.ps = 2, .workers = 3, .shards = 3});
  gate_is_open = false;
  for (int i = 0; i < 20; ++i) Schedule(kHoldAndLook);
  AwaitAtTheGate(6);  // all workers are there
  gate_is_open = true;
  std::vector<RemoteValue> values;
  for (std::int64_t i = 0; i < 60; ++i) {
    const auto value = coordinator().Schedule(ScheduleOptions{.worker = i % 3}, kMeasure, 1);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    values.push_back(*value);
  }
  for (std::int64_t i = 0; i < 60; ++i) {
    const Result<Values> value = values[static_cast<std::size_t>(i)].Fetch(kSoon);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_EQ(*value->scalar<std::int64_t>("worker"), i % 3);
  }
}

}  // namespace
}  // namespace pstrain
