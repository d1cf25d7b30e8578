#include "base/text/edit_distance.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(NearestName, IsAtMostTwoLettersOrAFourthOfTheTextAway) {
  EXPECT_EQ(NearestName("agee", {"city", "age"}), "age");
  EXPECT_EQ(NearestName("AGE", {"age"}), "age");
  EXPECT_EQ(NearestName("replicaSpec", {"replicas", "replicaSpecs"}), "replicaSpecs");
  EXPECT_EQ(NearestName("income", {"city", "age"}), "");
  EXPECT_EQ(NearestName("abcdef", {"abc"}), "");
  EXPECT_EQ(NearestName("peerTimeoutSec", {"peerTimeoutSeconds"}), "") << "4 of 14 letters";
  EXPECT_EQ(NearestName("peerTimeoutSecon", {"peerTimeoutSeconds"}), "peerTimeoutSeconds");
  EXPECT_EQ(NearestName("a", {}), "");
}

TEST(NearestName, HasSomethingInCommonWithTheText) {
  EXPECT_EQ(NearestName("ab", {"xy"}), "");
  EXPECT_EQ(NearestName("", {"ps"}), "");
  EXPECT_EQ(NearestName("p", {"ps"}), "ps");
}

TEST(NearestName, OfTextsTooLongToCompare_IsNone) {
  const std::string longest(256, 'x');
  EXPECT_EQ(NearestName(longest, {longest}), longest);
  EXPECT_EQ(NearestName(longest + "x", {longest}), "");
  EXPECT_EQ(NearestName(longest, {longest + "x"}), "");
}

}  // namespace
}  // namespace pstrain
