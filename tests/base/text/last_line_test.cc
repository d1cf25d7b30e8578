#include "base/text/last_line.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(LastLine, IsWithoutTheLineEndsBehindIt) {
  EXPECT_EQ(LastLine("first\nlast"), "last");
  EXPECT_EQ(LastLine("first\nlast\r\n\n"), "last");
  EXPECT_EQ(LastLine("only"), "only");
  EXPECT_EQ(LastLine("\n\n"), "");
  EXPECT_EQ(LastLine(""), "");
}

}  // namespace
}  // namespace pstrain
