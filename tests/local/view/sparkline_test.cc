#include "local/view/sparkline.h"

#include <gtest/gtest.h>

#include "local/view/number_text.h"

namespace pstrain::local {
namespace {

TEST(Sparkline, GoesFromTheHighestToTheLowest) {
  EXPECT_EQ(Sparkline({7, 6, 5, 4, 3, 2, 1, 0}, 8, true), "█▇▆▅▄▃▂▁");
  EXPECT_EQ(Sparkline({3, 1}, 8, false), "#_");
  EXPECT_EQ(Sparkline({2, 2, 2}, 8, false), "===");
  EXPECT_EQ(Sparkline({1}, 8, true), "");
  EXPECT_EQ(Sparkline({1, 2}, 0, true), "");
}

TEST(Sparkline, OfMoreValuesThanItIsWide_TakesMeans) {
  EXPECT_EQ(Sparkline({8, 8, 4, 4, 0, 0}, 3, false), "#=_");
}

TEST(Trace, OfThousandsOfValues_CoversThemAll) {
  Trace trace;
  for (int i = 0; i < 10'000; ++i) trace.Add(10'000 - i);
  EXPECT_LE(trace.values().size(), 64U);
  EXPECT_GE(trace.values().size(), 32U);
  EXPECT_GT(trace.values().front(), 9'800);
  EXPECT_LT(trace.values().back(), 600);
  EXPECT_EQ(ColumnsOf(Sparkline(trace.values(), 16, true)), 16U);
}

}  // namespace
}  // namespace pstrain::local
