#include "base/text/printable.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(PrintableLine, OfAnyBytes_IsOneLineOfUtf8) {
  EXPECT_EQ(PrintableLine("", 10), "");
  EXPECT_EQ(PrintableLine("a\tb\n\x1b[31mc", 20), "a b  [31mc");
  EXPECT_EQ(PrintableLine("caf\xc3\xa9 \xff\xc3", 20), "caf\xc3\xa9 ??");
}

TEST(PrintableLine, WhenItIsTooLong_EndsBeforeTheCharacterThatDoesNotFit) {
  EXPECT_EQ(PrintableLine("abcdef", 4), "abcd");
  EXPECT_EQ(PrintableLine("abc\xc3\xa9", 4), "abc");
}

}  // namespace
}  // namespace pstrain
