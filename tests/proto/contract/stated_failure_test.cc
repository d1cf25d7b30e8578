#include "proto/contract/stated_failure.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain {
namespace {

TEST(StatedFailure, WhenWritten_IsReadAsItWas) {
  const StatedFailure failure{"InvalidInput", "data.csv:3: column age: \"old\" is not a number"};
  EXPECT_EQ(ParseStatedFailure(WriteJson(StatedFailureJson(failure)) + "\n"), failure);
}

TEST(StatedFailure, WhenItsMessageIsLongOrOnSeveralLines_IsOneLineThatFits) {
  const StatedFailure failure{"InvalidInput", "a\nb\xff\t" + std::string(5000, 'x')};
  const auto read = ParseStatedFailure(WriteJson(StatedFailureJson(failure)));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->message.size(), kLongestStatedFailure);
  EXPECT_EQ(read->message.substr(0, 6), "a b? x");
}

TEST(StatedFailure, WhenAnybodyHasWrittenAnything_IsNoneOrUsable) {
  for (const char* text :
       {"", "{", "[]", "\"InvalidInput\"", "{}", R"({"reason":"InvalidInput"})",
        R"({"reason":"InvalidInput","message":""})", R"({"reason":"","message":"m"})",
        R"({"reason":"two words","message":"m"})", R"({"reason":"9lives","message":"m"})",
        R"({"reason":7,"message":"m"})", R"({"reason":"InvalidInput","message":["m"]})"}) {
    EXPECT_FALSE(ParseStatedFailure(text).has_value()) << text;
  }
  const std::string long_reason(65, 'a');
  EXPECT_FALSE(
      ParseStatedFailure(R"({"reason":")" + long_reason + R"(","message":"m"})").has_value());
}

}  // namespace
}  // namespace pstrain
