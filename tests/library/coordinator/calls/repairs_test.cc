#include "library/coordinator/calls/repairs.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(Repairs, WhenThreeAttemptsHaveFailed_TheCallIsGivenUpOnce) {
  Repairs repairs;
  EXPECT_FALSE(repairs.Failed(7, false, InternalError("first")));
  EXPECT_TRUE(repairs.Has(7));
  EXPECT_FALSE(repairs.Has(8));
  EXPECT_FALSE(repairs.Failed(7, false, InternalError("second")));
  EXPECT_FALSE(repairs.Failed(8, false, InternalError("of another one")));
  EXPECT_TRUE(repairs.Failed(7, false, InternalError("third")));
  EXPECT_FALSE(repairs.Failed(7, false, InternalError("of one that was still under way")));
  EXPECT_EQ(repairs.Ended(7).message(), "of one that was still under way");
  EXPECT_FALSE(repairs.Has(7));
  EXPECT_EQ(repairs.Ended(7), OkStatus());
  EXPECT_FALSE(repairs.Unwanted(7));
}

TEST(Repairs, WhenItSucceedsInBetween_TheCountBeginsAgain) {
  Repairs repairs;
  EXPECT_FALSE(repairs.Failed(7, false, InternalError("first")));
  EXPECT_FALSE(repairs.Failed(7, false, InternalError("second")));
  EXPECT_EQ(repairs.Ended(7).message(), "second");
  EXPECT_FALSE(repairs.Failed(7, false, InternalError("first of the next loss")));
}

TEST(Repairs, WhatNobodyWants_IsKnownAsThat) {
  Repairs repairs;
  for (int i = 0; i < 3; ++i) repairs.Failed(7, true, InternalError("no"));
  EXPECT_TRUE(repairs.Unwanted(7));
  EXPECT_EQ(repairs.Ended(7).message(), "no");
  EXPECT_TRUE(repairs.Unwanted(7));
}

TEST(Repairs, WhatIsLost_CountsOnceAndBesideWhatAMarkHas) {
  Repairs repairs;
  repairs.Restore(4);
  EXPECT_TRUE(repairs.Lose(7));
  EXPECT_FALSE(repairs.Lose(7)) << "for another shard";
  EXPECT_TRUE(repairs.Lose(8));
  EXPECT_EQ(repairs.lost(), 6U);
}

}  // namespace
}  // namespace pstrain
