#include "runtime/worker/given_back.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pstrain {
namespace {

TEST(GivenBackTest, TheSecondTime_IsNoticedUntilTheWorkIsFinished) {
  GivenBack given_back;
  EXPECT_TRUE(given_back.Add({0, 1}));
  EXPECT_TRUE(given_back.Add({0, 2}));
  EXPECT_FALSE(given_back.Add({0, 1}));
  given_back.Finished({0, 1});
  given_back.Finished({0, 7});
  EXPECT_EQ(given_back.size(), 1u);
  EXPECT_TRUE(given_back.Add({0, 1}));
  EXPECT_FALSE(given_back.Add({0, 2}));
}

// What other workers finish this one does not hear of.
TEST(GivenBackTest, OverALongRun_DoesNotGrow) {
  GivenBack given_back;
  constexpr std::uint32_t kMany = 100'000;
  for (std::uint32_t batch = 0; batch < kMany; ++batch) {
    EXPECT_TRUE(given_back.Add({0, batch}));
    EXPECT_FALSE(given_back.Add({0, batch}));
    EXPECT_LE(given_back.size(), GivenBack::kMost);
  }
  EXPECT_EQ(given_back.size(), GivenBack::kMost);
  EXPECT_FALSE(given_back.Add({0, kMany - GivenBack::kMost})) << "the newest are kept";
  // An id that was forgotten and comes again takes the place of another one.
  EXPECT_TRUE(given_back.Add({0, 0}));
  EXPECT_EQ(given_back.size(), GivenBack::kMost);
}

TEST(GivenBackTest, WhatIsFinished_LeavesNothingBehind) {
  GivenBack given_back;
  for (std::uint32_t batch = 0; batch < 10 * GivenBack::kMost; ++batch) {
    given_back.Add({0, batch});
    given_back.Finished({0, batch});
    EXPECT_EQ(given_back.size(), 0u);
  }
}

}  // namespace
}  // namespace pstrain
