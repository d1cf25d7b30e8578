#include "operator/job/observe/progress_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace pstrain::job {
namespace {

using std::chrono::milliseconds;

std::string Body(int committed) {
  return R"({"values": {"examples_committed": )" + std::to_string(committed) + "}}";
}

ProgressReading Polled(int committed, int ms, int attempt = 0) {
  return *ParseProgress(Body(committed), plan::Time(milliseconds(ms)), attempt);
}

ProgressReading Left(int committed, int ms, int attempt = 0) {
  return *ReadingFromTermination(Body(committed), plan::Time(milliseconds(ms)), attempt);
}

std::int64_t Committed(const ProgressStore& store) {
  return store.Status("job", {})->examples_committed();
}

TEST(ProgressStore, TheLastWordOfAChief_StandsThoughItsTimeIsCheckpointToSeconds) {
  ProgressStore store;
  EXPECT_TRUE(store.Record("job", Polled(90, 5700)));
  EXPECT_TRUE(store.Record("job", Left(100, 5000)));
  EXPECT_EQ(Committed(store), 100);
  // A poll that was on its way.
  EXPECT_FALSE(store.Record("job", Polled(90, 5900)));
  EXPECT_EQ(Committed(store), 100);
}

TEST(ProgressStore, TheNextChief_CountsWhateverItsClockSays) {
  ProgressStore store;
  EXPECT_TRUE(store.Record("job", Left(100, 9000)));
  EXPECT_TRUE(store.Record("job", Polled(60, 8500, 1)));
  EXPECT_EQ(Committed(store), 60);
  EXPECT_FALSE(store.Record("job", Left(100, 9000)));
}

TEST(ProgressStore, WhatIsNotNews_IsSaidToBeNone) {
  ProgressStore store;
  EXPECT_TRUE(store.Record("job", Polled(60, 1000)));
  EXPECT_FALSE(store.Record("job", Polled(60, 2000)));
  EXPECT_FALSE(store.Record("job", Polled(70, 1500)));
  EXPECT_TRUE(store.Record("job", Polled(70, 3000)));
  store.Forget("job");
  EXPECT_FALSE(store.Status("job", {}).has_value());
}

TEST(ProgressStore, ALastWordRightBehindAPoll_KeepsTheRate) {
  ProgressStore store;
  store.Record("job", Polled(0, 1000));
  store.Record("job", Polled(100, 5990));
  store.Record("job", Left(190, 6000));
  TrainingStatus former;
  former.set_examples_per_second(20);
  EXPECT_EQ(store.Status("job", former)->examples_per_second(), 20);
}

TEST(ProgressStore, WhatAChiefCountedWhenLastHeard_ProvesItsSuccessOnlyWhenItAgrees) {
  const auto counts = [](const std::string& applied_min, int ms) {
    return *ParseProgress(R"({"values": {"examples_expected": 80, "examples_committed": 80,
                              "applied_max": 80, "applied_min": )" +
                              applied_min + "}}",
                          plan::Time(milliseconds(ms)), 2);
  };
  ProgressStore store;
  EXPECT_FALSE(store.ProvenCounts("job", 2).has_value());
  store.Record("job", counts("71", 1000));
  EXPECT_FALSE(store.ProvenCounts("job", 2).has_value());
  store.Record("job", counts("80", 2000));
  ASSERT_TRUE(store.ProvenCounts("job", 2).has_value());
  EXPECT_EQ(store.ProvenCounts("job", 2)->applied_min, 80);
  // Of another attempt it says nothing.
  EXPECT_FALSE(store.ProvenCounts("job", 3).has_value());
}

}  // namespace
}  // namespace pstrain::job
