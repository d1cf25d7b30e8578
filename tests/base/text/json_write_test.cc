#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/text/json.h"

namespace pstrain {
namespace {

TEST(JsonWrite, Compact_KeepsTheOrderAndTheNumbers) {
  Json root = Json::Object();
  root.Set("z", Json::Int(-1));
  root.Set("a", Json::Uint(std::numeric_limits<std::uint64_t>::max()));
  Json& list = root.Set("list", Json::Array());
  list.Append(Json::Bool(true));
  list.Append(Json::Null());
  list.Append(Json::Double(0.1));
  EXPECT_EQ(WriteJson(root), R"({"z":-1,"a":18446744073709551615,"list":[true,null,0.1]})");
}

TEST(JsonWrite, Set_OfAnExistingMember_KeepsItsPlace) {
  Json root = Json::Object();
  root.Set("a", Json::Int(1));
  root.Set("b", Json::Int(2));
  root.Set("a", Json::String("x"));
  EXPECT_EQ(WriteJson(root), R"({"a":"x","b":2})");
}

TEST(JsonWrite, Erase_TakesOneMemberAndKeepsTheOrderOfTheOthers) {
  Json root = ParseJson(R"({"a":1,"b":2,"c":3})").value();
  root.Erase("b");
  root.Erase("absent");
  EXPECT_EQ(WriteJson(root), R"({"a":1,"c":3})");
}

TEST(JsonWrite, Doubles_ReadBackTheSameAndStayDoubles) {
  for (const double value : {0.0, -0.0, 1.0, 0.1, 1e22, 1e-300, 5e-324, 1.7976931348623157e308,
                             123456789.0, 1.0 / 3.0}) {
    const std::string text = WriteJson(Json::Double(value));
    const Json back = ParseJson(text).value();
    EXPECT_EQ(back.kind(), Json::Kind::kDouble) << text;
    EXPECT_EQ(back.AsDouble(), value) << text;
    EXPECT_EQ(std::signbit(*back.AsDouble()), std::signbit(value)) << text;
  }
  EXPECT_EQ(WriteJson(Json::Double(1.0)), "1.0");
  EXPECT_EQ(WriteJson(Json::Double(std::nan(""))), "null");
  EXPECT_EQ(WriteJson(Json::Double(std::numeric_limits<double>::infinity())), "null");
}

TEST(JsonWrite, Strings_AreEscaped) {
  EXPECT_EQ(WriteJson(Json::String("a\"\\\n\x01é")), "\"a\\\"\\\\\\n\\u0001é\"");
  EXPECT_EQ(WriteJson(Json::String("\xff.")), "\"\uFFFD.\"");
}

TEST(JsonWrite, Pretty_BreaksLinesAndKeepsEmptyOnesShort) {
  const Json root = ParseJson(R"({"a":[1,2],"b":{},"c":[]})").value();
  EXPECT_EQ(WriteJsonPretty(root),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}");
}

TEST(Json, Equality_IgnoresPositionsOnly) {
  const Json a = ParseJson(R"({"a":[1,{"b":"c"}]})").value();
  EXPECT_EQ(a, ParseJson("{ \"a\" :\n[1, {\"b\":\"c\"}]}").value());
  EXPECT_FALSE(a == ParseJson(R"({"a":[1,{"b":"d"}]})").value());
  EXPECT_FALSE(Json::Int(1) == Json::Double(1));
  EXPECT_EQ(Json::Uint(1), Json::Int(1));
}

}  // namespace
}  // namespace pstrain
