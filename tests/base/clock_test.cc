#include "base/clock.h"

#include <gtest/gtest.h>

#include "base/freezable_clock.h"
#include "base/manual_clock.h"

namespace pstrain {
namespace {

TEST(RealClock, Now_CalledTwice_DoesNotGoBack) {
  const RealClock clock;
  const auto before = clock.Now();
  EXPECT_GE(clock.Now(), before);
  EXPECT_GT(clock.UnixMillis(), 1'700'000'000'000);
  const SteadyTime steady = SteadyNow();
  EXPECT_GE(clock.Steady(), steady);
}

TEST(ManualClock, Advance_ByASecond_MovesBothTimes) {
  ManualClock clock(std::chrono::seconds(5), 1000);
  EXPECT_EQ(clock.Now(), std::chrono::seconds(5));
  EXPECT_EQ(clock.UnixMillis(), 6000);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(clock.Now(), std::chrono::seconds(6));
  EXPECT_EQ(clock.UnixMillis(), 7000);
  EXPECT_EQ(clock.Steady(), SteadyTime(std::chrono::seconds(6)));
}

TEST(FreezableClock, WhileItIsFrozen_StandsStill) {
  ManualClock time(std::chrono::seconds(5), 1000);
  FreezableClock clock(time);
  {
    const FreezableClock::Freeze freeze(clock);
    time.Advance(std::chrono::seconds(1));
    EXPECT_EQ(clock.Now(), std::chrono::seconds(5));
    EXPECT_EQ(clock.UnixMillis(), 7000);
  }
  EXPECT_EQ(clock.Now(), std::chrono::seconds(6));
  time.Advance(std::chrono::seconds(1));
  EXPECT_EQ(clock.Now(), std::chrono::seconds(7));
}

}  // namespace
}  // namespace pstrain
