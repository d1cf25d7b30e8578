#include "base/text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain {
namespace {

TEST(Utf8, AppendUtf8_OfEveryCodePoint_IsWellFormed) {
  for (char32_t code_point = 0; code_point <= 0x10ffff; ++code_point) {
    if (code_point == 0xd800) code_point = 0xe000;
    std::string text;
    AppendUtf8(code_point, text);
    ASSERT_EQ(Utf8SequenceLength(text), text.size()) << static_cast<unsigned>(code_point);
  }
}

TEST(Utf8, IsUtf8_RefusesWhatIsNotWellFormed) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("aé€😀"));
  for (const char* bad : {"\x80", "\xc1\x81", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xc3("}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

TEST(Utf8, Prefix_CutsBetweenCharacters) {
  EXPECT_EQ(Utf8Prefix("aé€", 6), "aé€");
  EXPECT_EQ(Utf8Prefix("aé€", 5), "aé");
  EXPECT_EQ(Utf8Prefix("aé€", 4), "aé");
  EXPECT_EQ(Utf8Prefix("aé€", 3), "aé");
  EXPECT_EQ(Utf8Prefix("aé€", 2), "a");
  EXPECT_EQ(Utf8Prefix("é", 1), "");
  EXPECT_EQ(Utf8Prefix("a", 0), "");
  EXPECT_EQ(Utf8Prefix("", 0), "");
}

}  // namespace
}  // namespace pstrain
