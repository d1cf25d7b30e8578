#include "base/backoff.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, Next_WithoutJitter_DoublesUpToTheCap) {
  Backoff backoff({.initial = milliseconds(100), .cap = milliseconds(500)});
  EXPECT_EQ(backoff.Next(), milliseconds(100));
  EXPECT_EQ(backoff.Next(), milliseconds(200));
  EXPECT_EQ(backoff.Next(), milliseconds(400));
  EXPECT_EQ(backoff.Next(), milliseconds(500));
  EXPECT_EQ(backoff.Next(), milliseconds(500));
  EXPECT_EQ(backoff.attempts(), 5);
}

TEST(Backoff, Reset_AfterGrowth_StartsAgain) {
  Backoff backoff({.initial = milliseconds(100), .cap = milliseconds(500)});
  backoff.Next();
  backoff.Next();
  backoff.Reset();
  EXPECT_EQ(backoff.attempts(), 0);
  EXPECT_EQ(backoff.Next(), milliseconds(100));
}

TEST(Backoff, Next_WithJitter_StaysInItsInterval) {
  Backoff backoff({.initial = milliseconds(100), .cap = milliseconds(100), .jitter = 0.5});
  bool differ = false;
  const auto first = backoff.Next();
  for (int i = 0; i < 100; ++i) {
    const auto delay = backoff.Next();
    EXPECT_GE(delay, milliseconds(50));
    EXPECT_LE(delay, milliseconds(100));
    differ = differ || delay != first;
  }
  EXPECT_TRUE(differ);
}

TEST(Backoff, Next_AfterManyCalls_DoesNotOverflow) {
  Backoff backoff({.initial = milliseconds(1), .cap = std::chrono::hours(24 * 365)});
  for (int i = 0; i < 200; ++i) backoff.Next();
  EXPECT_EQ(backoff.Next(), std::chrono::hours(24 * 365));
}

}  // namespace
}  // namespace pstrain
