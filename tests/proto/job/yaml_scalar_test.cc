#include "proto/job/yaml_scalar.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain {
namespace {

std::string Resolved(std::string_view text) {
  const auto value = ResolvePlainScalar(text);
  return value.ok() ? WriteJson(*value) : "refused";
}

TEST(PlainScalar_OfTheCoreSchema, IsResolved) {
  EXPECT_EQ(Resolved(""), "null");
  EXPECT_EQ(Resolved("~"), "null");
  EXPECT_EQ(Resolved("True"), "true");
  EXPECT_EQ(Resolved("tRue"), "\"tRue\"");
  EXPECT_EQ(Resolved("7"), "7");
  EXPECT_EQ(Resolved("+7"), "7");
  EXPECT_EQ(Resolved("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Resolved("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Resolved("0x1F"), "31");
  EXPECT_EQ(Resolved("0o17"), "15");
  EXPECT_EQ(Resolved("1e-07"), "1e-07");
  EXPECT_EQ(Resolved(".5"), "0.5");
  EXPECT_EQ(Resolved("1e-999"), "0.0");
  EXPECT_EQ(Resolved("5."), "5.0");
  EXPECT_EQ(Resolved("."), "\".\"");
  EXPECT_EQ(Resolved("-"), "\"-\"");
  EXPECT_EQ(Resolved("1.2.3"), "\"1.2.3\"");
  EXPECT_EQ(Resolved("1e"), "\"1e\"");
  EXPECT_EQ(Resolved("11th"), "\"11th\"");
  EXPECT_EQ(Resolved("2024-01-01"), "\"2024-01-01\"");
}

TEST(PlainScalar_ThatReadersDisagreeOn, IsRefused) {
  for (const char* text : {"yes", "No", "on", "OFF", "y", "N", "010", "1_000", "0b11", ".inf",
                           "-.Inf", ".nan", "1e999", "0xfffffffffffffffff"}) {
    EXPECT_EQ(Resolved(text), "refused") << text;
  }
}

TEST(CleanText_WithControlCharactersOrBrokenUtf8, IsNone) {
  EXPECT_TRUE(IsCleanText("a\tb\r\n\xC3\xA9"));
  EXPECT_FALSE(IsCleanText(std::string_view("a\0b", 3)));
  EXPECT_FALSE(IsCleanText("\x1B[0m"));
  EXPECT_FALSE(IsCleanText("\xC3"));
}

}  // namespace
}  // namespace pstrain
