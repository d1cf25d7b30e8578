// What ClusterCoordinator::Fetch makes of structures, and what else TensorFlow's tests of a
// coordinator say: numbers 92 to 109 of docs/tensorflow-map.md.
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

Values Amount(std::int64_t amount) { return Values{{"amount", amount}}; }

/// Whether Schedule takes it is decided when it is compiled.
template <typename What, typename... Args>
concept Schedulable = requires(ClusterCoordinator coordinator, const What& what, Args... args) {
  coordinator.Schedule(what, args...);
};
template <typename What>
concept MakesADataset = requires(ClusterCoordinator coordinator, const What& what) {
  coordinator.CreatePerWorkerDataset(what);
};

class CoordinatorFetchTest : public CoordinatorFixture {};

TEST_F(CoordinatorFetchTest, OfOneValue_IsWhatTheFunctionReturns) {
  Start();
  const RemoteValue value = Schedule(kAdd, 3);
  EXPECT_EQ(*coordinator().Fetch(value, kSoon), Amount(3));
  EXPECT_EQ(*coordinator().Fetch(value, kNow), Amount(3)) << "the same each time";
}

TEST_F(CoordinatorFetchTest, OfAStructure_HasItsForm) {
  Start();
  const auto value = [this](std::int64_t amount) { return Schedule(kAdd, amount); };
  EXPECT_EQ(*coordinator().Fetch(std::vector{value(1), value(2)}, kSoon),
            (std::vector{Amount(1), Amount(2)}));
  EXPECT_EQ(*coordinator().Fetch(PerWorker(std::vector{value(3), value(4)}), kSoon),
            PerWorker(std::vector{Amount(3), Amount(4)}));
  EXPECT_EQ(*coordinator().Fetch(PerReplica(std::vector{value(5)}), kSoon),
            PerReplica(std::vector{Amount(5)}));
  const std::map<std::string, std::vector<RemoteValue>> by_name = {
      {"b", {value(6)}}, {"a", {value(7), value(8)}}, {"none", {}}};
  const auto nested = std::tuple(by_name, std::pair(value(9), std::string("as it is")), 10);
  const auto fetched = coordinator().Fetch(nested, kSoon);
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  const std::map<std::string, std::vector<Values>> expected = {
      {"b", {Amount(6)}}, {"a", {Amount(7), Amount(8)}}, {"none", {}}};
  EXPECT_EQ(*fetched, std::tuple(expected, std::pair(Amount(9), std::string("as it is")), 10));
  EXPECT_EQ(*coordinator().Fetch(std::string("no value at all"), kNow), "no value at all");
}

TEST_F(CoordinatorFetchTest, WhenSomeHaveFailed_TheFirstInTheStructureIsTheError) {
  StartOneWorker(3);
  gate_is_open = false;
  const RemoteValue first = Schedule(kHoldAndFail, "the first");
  const RemoteValue good = Schedule(kHoldAndAdd, 1);
  const RemoteValue second = Schedule(kHoldAndFail, "the second");
  AwaitAtTheGate(3);
  gate_is_open = true;
  EXPECT_EQ(coordinator().Fetch(std::vector{good, second, first}, kSoon).status(),
            AbortedError("HoldAndFail: the second"));
  EXPECT_EQ(coordinator().Fetch(std::pair(first, second), kSoon).status(),
            AbortedError("HoldAndFail: the first"));
  EXPECT_EQ(coordinator().Join(kSoon).code(), StatusCode::kAborted);
}

TEST_F(CoordinatorFetchTest, WhenOneHasNotEnded_AllHaveOneDeadline) {
  StartOneWorker(2);
  gate_is_open = false;
  const std::vector<RemoteValue> values = {Schedule(kHoldAndAdd, 1), Schedule(kHoldAndAdd, 2)};
  EXPECT_EQ(coordinator().Fetch(values, std::chrono::milliseconds(20)).status().code(),
            StatusCode::kDeadlineExceeded);
  gate_is_open = true;
  EXPECT_EQ(*coordinator().Fetch(values, Forever()), (std::vector{Amount(1), Amount(2)}));
}

TEST_F(CoordinatorFetchTest, WhenTwoCoordinatorsAreMade_TheyAreTheSame) {
  Start();
  ClusterCoordinator other = *ClusterCoordinator::Create(*strategy_);
  Schedule(kAdd, 5);
  EXPECT_EQ(other.Join(kSoon), OkStatus());
  ASSERT_TRUE(other.Schedule(kAdd, 6).ok());
  EXPECT_EQ(Count(), 11);
  Schedule(kFail, "no");
  EXPECT_EQ(other.Join(kSoon), AbortedError("Fail: no"));
  EXPECT_EQ(coordinator().Join(kNow), OkStatus()) << "it was said";
}

TEST_F(CoordinatorFetchTest, WhenNothingIsScheduled_JoinReturnsAndTheSumsGoOn) {
  Start();
  EXPECT_EQ(coordinator().Join(kNow), OkStatus());
  for (const std::int64_t expected : {10, 20}) {
    for (int i = 0; i < 5; ++i) Schedule(kAdd, 2);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
    EXPECT_EQ(Count(), expected);
  }
}

TEST_F(CoordinatorFetchTest, WhatCannotTravel_IsRefusedWhenCompiled) {
  EXPECT_TRUE((Schedulable<Function<std::int64_t>, std::int64_t>));
  EXPECT_FALSE((Schedulable<Function<std::int64_t>, RemoteValue>));
  EXPECT_FALSE((Schedulable<Function<Values>, RemoteValue>));
  EXPECT_FALSE((Schedulable<decltype(&AddAmount), std::int64_t>)) << "it has no name";
  EXPECT_TRUE(MakesADataset<DatasetFunction>);
  EXPECT_FALSE(MakesADataset<Dataset>) << "no worker could make it again";
  const auto captures = [count = 3](const InputContext&) -> Result<Dataset> {
    return Dataset::Range(count);
  };
  EXPECT_FALSE((std::is_constructible_v<DatasetFunction, const char*, decltype(captures)>));
}

}  // namespace
}  // namespace pstrain
