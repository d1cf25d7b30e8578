#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/text/json.h"

namespace pstrain {
namespace {

std::string ErrorOf(std::string_view text) {
  const Result<Json> result = ParseJson(text);
  EXPECT_TRUE(result.ok() || result.status().code() == StatusCode::kInvalidArgument);
  return result.status().message();
}

TEST(JsonParse, Scalars_HaveTheirKinds) {
  EXPECT_TRUE(ParseJson(" null ").value().is_null());
  EXPECT_EQ(ParseJson("true").value().AsBool(), true);
  EXPECT_EQ(ParseJson("false").value().AsBool(), false);
  EXPECT_EQ(*ParseJson("\"a\"").value().AsString(), "a");
  EXPECT_EQ(ParseJson("1").value().KindName(), "integer");
  EXPECT_EQ(ParseJson("1.0").value().KindName(), "number");
}

TEST(JsonParse, Integers_AreExact) {
  EXPECT_EQ(ParseJson("9223372036854775807").value().AsInt64(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(ParseJson("-9223372036854775808").value().AsInt64(),
            std::numeric_limits<std::int64_t>::min());
  const Json large = ParseJson("18446744073709551615").value();
  EXPECT_EQ(large.kind(), Json::Kind::kUint);
  EXPECT_EQ(large.AsUint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(large.AsInt64(), std::nullopt);
  EXPECT_EQ(ParseJson("18446744073709551616").value().kind(), Json::Kind::kDouble);
  EXPECT_EQ(ParseJson("-1").value().AsUint64(), std::nullopt);
  EXPECT_EQ(ParseJson("1.0").value().AsInt64(), std::nullopt);
  EXPECT_EQ(ParseJson("7").value().AsDouble(), 7.0);
}

TEST(JsonParse, Doubles_AreRounded) {
  EXPECT_EQ(ParseJson("0.1").value().AsDouble(), 0.1);
  EXPECT_EQ(ParseJson("-1.5e3").value().AsDouble(), -1500.0);
  EXPECT_EQ(ParseJson("1E+2").value().AsDouble(), 100.0);
  EXPECT_EQ(ParseJson("1e-400").value().AsDouble(), 0.0);
  EXPECT_TRUE(std::signbit(*ParseJson("-0").value().AsDouble()));
  EXPECT_EQ(ErrorOf("1e400"), "1:1: a number beyond the range of a double");
}

TEST(JsonParse, Positions_PointAtEachValue) {
  const Json root = ParseJson("{\n  \"a\": [1,\n    22],\n  \"b\": {}}").value();
  EXPECT_EQ(root.line(), 1);
  EXPECT_EQ(root.column(), 1);
  const Json& a = *root.Find("a");
  EXPECT_EQ(a.line(), 2);
  EXPECT_EQ(a.column(), 8);
  EXPECT_EQ(a.items()[1].line(), 3);
  EXPECT_EQ(a.items()[1].column(), 5);
  EXPECT_EQ(root.Find("b")->line(), 4);
  EXPECT_EQ(root.Find("c"), nullptr);
  const Json closed = ParseJson("[[\n],{\n\n},1]").value();
  EXPECT_EQ(closed.items()[1].line(), 2);
  EXPECT_EQ(closed.items()[1].column(), 3);
  EXPECT_EQ(closed.items()[2].line(), 4);
  EXPECT_EQ(closed.items()[2].column(), 3);
}

TEST(JsonParse, Members_KeepTheirOrder) {
  const Json root = ParseJson(R"({"z":1,"a":2,"m":3})").value();
  ASSERT_EQ(root.members().size(), 3U);
  EXPECT_EQ(root.members()[0].first, "z");
  EXPECT_EQ(root.members()[2].first, "m");
}

TEST(JsonParse, DuplicateKeys_AreRefusedAtTheSecond) {
  EXPECT_EQ(ErrorOf("{\"a\":1,\n \"a\":2}"), "2:2: member \"a\" appears twice");
  EXPECT_EQ(ErrorOf(R"({"a":1,"\u0061":2})"), "1:8: member \"a\" appears twice");
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_TRUE(ParseJson(many + "\"k\":0}").ok());
  EXPECT_THAT(ErrorOf(many + "\"k3\":0}"), ::testing::HasSubstr("\"k3\" appears twice"));
  EXPECT_THAT(ErrorOf(many + "\"k99\":0}"), ::testing::HasSubstr("\"k99\" appears twice"));
}

TEST(JsonParse, Escapes_BecomeUtf8) {
  EXPECT_EQ(*ParseJson(R"("\"\\\/\b\f\n\r\t")").value().AsString(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(*ParseJson(R"("\u00e9\u20AC\ud83d\ude00")").value().AsString(), "é€😀");
  EXPECT_EQ(*ParseJson(R"("\u0000")").value().AsString(), std::string(1, '\0'));
  EXPECT_EQ(ErrorOf(R"("\ud83d")"), "1:2: half of a surrogate pair");
  EXPECT_EQ(ErrorOf(R"("\ude00")"), "1:2: half of a surrogate pair");
  EXPECT_EQ(ErrorOf(R"("\ud83dA")"), "1:2: half of a surrogate pair");
  EXPECT_EQ(ErrorOf(R"("\x")"), "1:2: unknown escape");
  EXPECT_EQ(ErrorOf(R"("\u12g4")"), "1:2: unknown escape");
  EXPECT_EQ(ErrorOf(R"("\u+123")"), "1:2: unknown escape");
  EXPECT_EQ(ErrorOf(R"("\ud83")"), "1:2: unknown escape");
  EXPECT_EQ(ErrorOf(R"("a\n\u00e9\ud83d\u0041")"), "1:11: half of a surrogate pair");
}

TEST(JsonParse, InvalidUtf8_IsRefused) {
  EXPECT_EQ(ErrorOf("\"\xff\""), "1:2: invalid UTF-8");
  EXPECT_EQ(ErrorOf("\"\xc0\x80\""), "1:2: invalid UTF-8");
  EXPECT_EQ(ErrorOf("\"\xed\xa0\x80\""), "1:2: invalid UTF-8");
  EXPECT_EQ(ErrorOf("\"a\n\""), "1:3: control character inside a string");
  EXPECT_EQ(ErrorOf("\xef\xbb\xbf{}"), "1:1: expected a value");
}

TEST(JsonParse, MalformedTexts_NameThePlace) {
  EXPECT_EQ(ErrorOf(""), "1:1: the text ends where a value belongs");
  EXPECT_EQ(ErrorOf("{} x"), "1:4: text after the value");
  EXPECT_EQ(ErrorOf("[1,]"), "1:4: expected a value");
  EXPECT_EQ(ErrorOf("[1 2]"), "1:4: expected ',' or ']'");
  EXPECT_EQ(ErrorOf("{\"a\" 1}"), "1:6: expected ':'");
  EXPECT_EQ(ErrorOf("{a:1}"), "1:2: expected a member name in quotes");
  EXPECT_EQ(ErrorOf("{\"a\":1,}"), "1:8: expected a member name in quotes");
  EXPECT_EQ(ErrorOf("{\"a\":1"), "1:7: the text ends where ',' or '}' belongs");
  EXPECT_EQ(ErrorOf("\"abc"), "1:5: the text ends inside a string");
  EXPECT_EQ(ErrorOf("01"), "1:1: a number with a leading zero");
  EXPECT_EQ(ErrorOf("-"), "1:1: not a number");
  EXPECT_EQ(ErrorOf("+1"), "1:1: expected a value");
  EXPECT_EQ(ErrorOf("1."), "1:3: the text ends where a digit after the point belongs");
  EXPECT_EQ(ErrorOf("1ex"), "1:3: expected a digit in the exponent");
  EXPECT_EQ(ErrorOf("NaN"), "1:1: expected a value");
  EXPECT_EQ(ErrorOf("// c\n1"), "1:1: expected a value");
  EXPECT_EQ(ErrorOf(std::string("1\0", 2)), "1:2: text after the value");
  EXPECT_EQ(ErrorOf(std::string("[1,\0", 4)), "1:4: expected a value");
  EXPECT_EQ(ErrorOf("[007]"), "1:2: a number with a leading zero");
  EXPECT_EQ(ErrorOf("{\n}\n}"), "3:1: text after the value");
  EXPECT_EQ(ErrorOf("[\n1\n2]"), "3:1: expected ',' or ']'");
}

TEST(JsonParse, DepthAndSize_AreLimited) {
  EXPECT_TRUE(ParseJson(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_EQ(ErrorOf(std::string(65, '[') + std::string(65, ']')),
            "1:65: nested deeper than 64 levels");
  EXPECT_FALSE(ParseJson(std::string(1'000'000, '[')).ok());
  EXPECT_FALSE(ParseJson("[1,2]", {.max_depth = 64, .max_bytes = 4}).ok());
}

TEST(JsonParse, Truncations_NeverCrash) {
  const std::string text = R"({"a":[1,-2.5e3,"xé\ud83d\ude00",true,null],"b":{"c":{}}})";
  ASSERT_TRUE(ParseJson(text).ok());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(ParseJson(std::string_view(text).substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace pstrain
