#include "local/preflight/texts.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain::preflight {
namespace {

TEST(Texts, WhenNearEnough_ACandidateIsProposed) {
  EXPECT_EQ(DidYouMean("agee", {"city", "age"}), "; did you mean \"age\"?");
  EXPECT_EQ(DidYouMean("income", {"city", "age"}), "");
}

TEST(Texts, WhenLong_AreCut) {
  EXPECT_EQ(Listed({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(Listed({"a", "b"}, 2), "a, b");
  EXPECT_EQ(Quoted("a\tb\n"), "\"a\\tb?\"");
  EXPECT_EQ(Quoted(std::string(100, 'x')), "\"" + std::string(60, 'x') + "...\"");
  const std::string almost(59, 'x');
  EXPECT_EQ(Quoted(almost + "é"), "\"" + almost + "...\"") << "no half of a letter";
}

}  // namespace
}  // namespace pstrain::preflight
