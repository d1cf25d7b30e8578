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

}  // namespace
}  // namespace pstrain::local
