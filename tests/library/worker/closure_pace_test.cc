#include "library/worker/closure_pace.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pstrain {
namespace {

using std::chrono::milliseconds;

TEST(ClosurePace, WhenClosuresAreSlow_KeepsTheLeast) {
  ClosurePace pace(4, 256);
  SteadyTime now = SteadyTime{} + std::chrono::hours(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pace.Ended(1, now += milliseconds(20)), 4U);
}

TEST(ClosurePace, WhenClosuresAreSmall_GrowsToTheMost) {
  ClosurePace pace(4, 256);
  SteadyTime now = SteadyTime{} + std::chrono::hours(1);
  std::uint32_t window = 4;
  for (int i = 0; i < 100; ++i) window = pace.Ended(window, now += milliseconds(1));
  EXPECT_EQ(window, 256U);
}

TEST(ClosurePace, IsTwiceWhatHasEndedInASpan) {
  ClosurePace pace(4, 256);
  SteadyTime now = SteadyTime{} + std::chrono::hours(1);
  for (int i = 0; i < 100; ++i) pace.Ended(1, now += milliseconds(1));
  EXPECT_EQ(pace.Ended(0, now), 20U);
}

TEST(ClosurePace, WhenClosuresBecomeSlow_ShrinksToTheLeast) {
  ClosurePace pace(4, 256);
  SteadyTime now = SteadyTime{} + std::chrono::hours(1);
  for (int i = 0; i < 100; ++i) pace.Ended(50, now += milliseconds(1));
  EXPECT_EQ(pace.Ended(0, now), 256U);
  pace.Ended(1, now += std::chrono::seconds(10));
  EXPECT_EQ(pace.Ended(1, now += milliseconds(100)), 4U);
}

}  // namespace
}  // namespace pstrain
