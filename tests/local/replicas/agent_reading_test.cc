#include "local/replicas/agent_reading.h"

#include <gtest/gtest.h>

namespace pstrain::local {
namespace {

TEST(ParseAgentReading, WithProgress_ReadsValues) {
  const auto reading = ParseAgentReading(
      R"({"role":"ps","index":0,"attempt":1,"child_pid":7,"state":"running","values":{"x":1.5}})");
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->child_pid, 7);
  EXPECT_EQ(reading->state, "running");
  EXPECT_EQ(reading->Value("x"), 1.5);
  EXPECT_EQ(reading->Value("y"), 0);
  EXPECT_FALSE(ParseAgentReading("[]").ok());
}

TEST(ParseAgentReading, AfterAnExit87_HasWhatTheProgramSaysOfIt) {
  const auto reading = ParseAgentReading(
      R"({"values":{},"exit":{"code":87,"failure":{"reason":"InvalidInput","message":"m"}}})");
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->failure, (StatedFailure{"InvalidInput", "m"}));
  EXPECT_FALSE(ParseAgentReading(R"({"exit":{"code":1}})")->failure.has_value());
  EXPECT_FALSE(ParseAgentReading(R"({"exit":7})")->failure.has_value());
}

TEST(ParseAgentReading, AfterAFailure_HasWhatTheAgentSaysOfIt) {
  const auto reading =
      ParseAgentReading(R"({"values":{},"exit":{"code":1,"message":"no column age"}})");
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->message, "no column age");
  EXPECT_EQ(ParseAgentReading(R"({"exit":{"code":1,"message":7}})")->message, "");
}

}  // namespace
}  // namespace pstrain::local
