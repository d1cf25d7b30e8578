// Objects that each worker has for itself: numbers 91, 100, 101, 116 and 117 of
// docs/tensorflow-map.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMostWorkers = 8;
/// How often a tally was made for each worker.
std::array<std::atomic<int>, kMostWorkers> made{};
std::atomic<bool> broken{false};

/// Counts calls of one worker.
struct Tally {
  std::int64_t worker = -1;
  std::int64_t workers = 0;
  std::atomic<std::int64_t> calls{0};
};

Result<std::shared_ptr<Tally>> MakeTally(const WorkerContext& context) {
  ++made[static_cast<std::size_t>(context.worker_index)];
  if (broken) return DataLossError("its file is damaged");
  auto tally = std::make_shared<Tally>();
  tally->worker = context.worker_index;
  tally->workers = context.num_workers;
  return tally;
}
const ResourceFunction kTally{"Tally", MakeTally};

Result<std::shared_ptr<Tally>> MakeNull(const WorkerContext&) { return std::shared_ptr<Tally>(); }
const ResourceFunction kNull{"Null", MakeNull};

/// Returns which call of its worker this is.
Result<Values> CountHere(Step& step, const Resource<Tally>& resource, std::int64_t amount) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<Tally> tally, resource.Get());
  step.Add(kCount, amount);
  step.metric("calls").Add(static_cast<double>(amount));
  return Values{{"call", ++tally->calls},
                {"worker", tally->worker},
                {"same", tally->worker == step.worker_index()},
                {"workers", tally->workers}};
}
const Function kCountHere{"CountHere", CountHere};

/// Is given one, and does not ask for it.
Result<Values> AddBeside(Step& step, Resource<Tally>, std::int64_t amount) {
  return AddAmount(step, amount);
}
const Function kAddBeside{"AddBeside", AddBeside};

class CoordinatorResourcesTest : public CoordinatorFixture {
 protected:
  CoordinatorResourcesTest() {
    for (std::atomic<int>& times : made) times = 0;
    broken = false;
  }
  static int Made() {
    int sum = 0;
    for (const std::atomic<int>& times : made) sum += times;
    return sum;
  }
};

TEST_F(CoordinatorResourcesTest, EachWorkerHasItsOwn_MadeOnce) {
  Start({.ps = 2, .workers = 3, .shards = 3});
  const Resource<Tally> tally = coordinator().CreatePerWorkerResources(kTally);
  constexpr std::int64_t kCalls = 600;
  std::vector<RemoteValue> values;
  for (std::int64_t i = 0; i < kCalls; ++i) values.push_back(Schedule(kCountHere, tally, 1));
  const auto fetched = coordinator().Fetch(values, kSoon);
  ASSERT_TRUE(fetched.ok()) << fetched.status().ToString();
  std::array<std::int64_t, 3> most{};
  std::int64_t sum = 0;
  for (const Values& value : *fetched) {
    EXPECT_TRUE(*value.scalar<bool>("same"));
    EXPECT_EQ(*value.scalar<std::int64_t>("workers"), 3);
    const auto worker = static_cast<std::size_t>(*value.scalar<std::int64_t>("worker"));
    most[worker] = std::max(most[worker], *value.scalar<std::int64_t>("call"));
  }
  for (std::size_t worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(made[worker], most[worker] > 0 ? 1 : 0);
    sum += most[worker];
  }
  EXPECT_EQ(sum, kCalls);
  EXPECT_EQ(Count(), kCalls);
}

TEST_F(CoordinatorResourcesTest, WhatTheyCount_ComesToMainByAMetric) {
  Start();
  const Resource<Tally> tally = coordinator().CreatePerWorkerResources(kTally);
  for (const double expected : {10.0, 20.0}) {
    for (int i = 0; i < 5; ++i) Schedule(kCountHere, tally, 2);
    ASSERT_EQ(coordinator().Join(kSoon), OkStatus());
    Metric calls = coordinator().metric("calls");
    EXPECT_EQ(calls.Value() * calls.Count(), expected);
  }
}

TEST_F(CoordinatorResourcesTest, WhenItCannotBeMade_JoinAndTheValueSaySoAndTheNextCallTriesAgain) {
  StartOneWorker(1);
  const Resource<Tally> tally = coordinator().CreatePerWorkerResources(kTally);
  broken = true;
  const RemoteValue bad = Schedule(kCountHere, tally, 1);
  const Status error = DataLossError("CountHere: resource Tally: its file is damaged");
  EXPECT_EQ(ErrorOf(bad), error);
  EXPECT_EQ(coordinator().Join(kSoon), error);
  broken = false;
  Schedule(kCountHere, tally, 5);
  EXPECT_EQ(Count(), 5);
  EXPECT_EQ(Made(), 2);
  EXPECT_THAT(
      ErrorOf(Schedule(kCountHere, coordinator().CreatePerWorkerResources(kNull), 1)).message(),
      HasSubstr("resource Null: the resource function has returned null"));
}

TEST_F(CoordinatorResourcesTest, WhenNobodyAsksForIt_ABrokenOneIsHarmless) {
  Start();
  broken = true;
  const Resource<Tally> tally = coordinator().CreatePerWorkerResources(kTally);
  for (int i = 0; i < 20; ++i) Schedule(kAddBeside, tally, 1);
  EXPECT_EQ(Count(), 20);
  EXPECT_EQ(Made(), 0) << "and Join waits for none";
}

TEST_F(CoordinatorResourcesTest, WhenCallsAreCancelled_ItStays) {
  StartOneWorker(1);
  const Resource<Tally> tally = coordinator().CreatePerWorkerResources(kTally);
  EXPECT_EQ(ErrorOf(Schedule(kCountHere, tally, 1)), OkStatus());
  Schedule(kFail, "no");
  EXPECT_EQ(coordinator().Join(kSoon), AbortedError("Fail: no"));
  const Result<Values> next = coordinator().Fetch(Schedule(kCountHere, tally, 1), kSoon);
  ASSERT_TRUE(next.ok()) << next.status().ToString();
  EXPECT_EQ(*next->scalar<std::int64_t>("call"), 2);
  EXPECT_EQ(Made(), 1);
}

TEST_F(CoordinatorResourcesTest, OutsideOfAFunction_ThereIsNone) {
  Start();
  const Resource<Tally> tally = coordinator().CreatePerWorkerResources(kTally);
  EXPECT_EQ(tally, coordinator().CreatePerWorkerResources(kTally));
  const Status status = tally.Get().status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("give it to a function"));
}

}  // namespace
}  // namespace pstrain
