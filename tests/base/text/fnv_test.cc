#include "base/text/fnv.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

// From the reference implementation by Fowler, Noll and Vo.
TEST(Fnv1aTest, OfKnownTexts_IsTheReferences) {
  EXPECT_EQ(Fnv1a(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(Fnv1a("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(Fnv1a("foobar"), 0x85944171f73967e8ULL);
  EXPECT_EQ(Fnv1a("\xff"), 0xaf64724c8602eb6eULL);
}

}  // namespace
}  // namespace pstrain
