// Atomic functions (FunctionOptions::atomic) in programs whose roles are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

const VariableRef kWide{"wide"};
constexpr std::int64_t kElements = 6000;

const Function kAddAtomically{"AddAtomically", AddAmount, {.atomic = true}};
const Function kFailAtomically{"FailAtomically", Fail, {.atomic = true}};

/// Adds one to so many elements, in as many adds as it takes, and reads them then.
Result<Values> AddToAll(Step& step, std::int64_t adds) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor before, step.Read(kWide));
  for (std::int64_t i = 0; i < adds; ++i) {
    step.Add(kWide, Tensor::From(std::vector<std::int64_t>(kElements, 1)));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto first, before.data<std::int64_t>());
  return Values{{"before", first[0]}};
}
const Function kAddToAll{"AddToAll", AddToAll, {.atomic = true}};

Result<Values> ReadWide(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor wide, step.Read(kWide));
  return Values{{"wide", wide}};
}
const Function kReadWide{"ReadWide", ReadWide};

class AtomicFunctionTest : public CoordinatorFixture {
 protected:
  void DeclareWide() {
    const auto scope = strategy_->Scope();
    const auto created = Variable::Create(kWide, Shape{kElements}, initializers::Zeros(),
                                          optimizers::None{}, DType::kInt64);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
};

TEST_F(AtomicFunctionTest, WhenManyAreAtomic_EachCountsOnceAndHasItsResult) {
  Start({.ps = 2, .workers = 2, .shards = 3});
  constexpr std::int64_t kCalls = 500;
  std::vector<RemoteValue> values;
  for (std::int64_t i = 0; i < kCalls; ++i) {
    values.push_back(i % 3 == 0 ? Schedule(kAdd, i) : Schedule(kAddAtomically, i));
  }
  EXPECT_EQ(Count(), kCalls * (kCalls - 1) / 2);
  for (std::int64_t i = 0; i < kCalls; ++i) {
    const Result<Values> value = values[static_cast<std::size_t>(i)].Fetch(kSoon);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_EQ(*value->scalar<std::int64_t>("amount"), i);
  }
}

// What one reads has what was pushed before it, whether or not that waited for the chief.
TEST_F(AtomicFunctionTest, WithOneAtATime_EachReadsWhatTheOneBeforeHasChanged) {
  StartOneWorker(1);
  DeclareWide();
  for (std::int64_t i = 0; i < 20; ++i) {
    const Result<Values> value = Schedule(kAddToAll, 1).Fetch(kSoon);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_EQ(*value->scalar<std::int64_t>("before"), i);
  }
}

TEST_F(AtomicFunctionTest, WhenItChangesTooMuch_ItFailsAndHasChangedNothing) {
  Start();
  DeclareWide();
  const Status error = ErrorOf(Schedule(kAddToAll, 2));
  EXPECT_EQ(error.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(error.message(),
              HasSubstr("AddToAll changes and returns 960"));  // 2 x 6000 x 8, and the result
  EXPECT_THAT(error.message(), HasSubstr("an atomic function at most 65536"));
  EXPECT_EQ(coordinator().Join(kSoon).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorOf(Schedule(kAddToAll, 1)), OkStatus());
  const Result<Values> read = Schedule(kReadWide).Fetch(kSoon);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const Tensor wide = *read->Get("wide");
  // A name of its own: what `wide.data` returns would be gone before the loop begins.
  const Result<std::span<const std::int64_t>> values = wide.data<std::int64_t>();
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  for (const std::int64_t value : *values) ASSERT_EQ(value, 1);
}

TEST_F(AtomicFunctionTest, WhenOneFails_ItsErrorIsSaidAndNothingChanged) {
  Start();
  EXPECT_EQ(ErrorOf(Schedule(kFailAtomically, "no")), AbortedError("FailAtomically: no"));
  EXPECT_EQ(coordinator().Join(kSoon), AbortedError("FailAtomically: no"));
  EXPECT_EQ(Count(), 0);
}

}  // namespace
}  // namespace pstrain
