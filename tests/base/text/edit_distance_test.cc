#include "base/text/edit_distance.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(EditDistance, CountsInsertedRemovedAndReplacedLetters) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("abc", ""), 3U);
  EXPECT_EQ(EditDistance("replica", "replicas"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("ab", "ba"), 2U);
}

TEST(EditDistance, IgnoresCase) { EXPECT_EQ(EditDistance("logLoss", "LOGLOSS"), 0U); }

}  // namespace
}  // namespace pstrain
