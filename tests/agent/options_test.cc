#include "agent/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<AgentOptions> Parse(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string, std::less<>>& environment = {}) {
  return ParseAgentOptions(
      arguments,
      [&](std::string_view name) -> std::optional<std::string> {
        const auto found = environment.find(name);
        if (found == environment.end()) return std::nullopt;
        return found->second;
      },
      "/bin/pstrain-runtime");
}

TEST(AgentOptions, WhenNothingIsGiven_RunTheRuntime) {
  const auto options = Parse({});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_THAT(options->command, ElementsAre("/bin/pstrain-runtime"));
  EXPECT_EQ(options->admin_host, "0.0.0.0");
  EXPECT_EQ(options->admin_port, 9464);
  EXPECT_EQ(options->task.grace_seconds, 30);
  EXPECT_EQ(options->cgroup_root, "/sys/fs/cgroup");
}

TEST(AgentOptions, WhenFlagAndVariableDiffer_TheFlagWins) {
  const auto options =
      Parse({"--grace-seconds=7", "--metrics-address", "[::1]:80", "--", "a", "-b"},
            {{"PSTRAIN_GRACE_SECONDS", "9"},
             {"PSTRAIN_METRICS_ADDRESS", "127.0.0.1:1"},
             {"PSTRAIN_FINAL_STATS_FILE", "f"},
             {"PSTRAIN_TERMINATION_LOG", "t"}});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->task.grace_seconds, 7);
  EXPECT_EQ(options->admin_host, "[::1]");
  EXPECT_EQ(options->admin_port, 80);
  EXPECT_EQ(options->final_stats_file, "f");
  EXPECT_EQ(options->termination_log, "t");
  EXPECT_THAT(options->command, ElementsAre("a", "-b"));
}

TEST(AgentOptions, OfExit0AfterSigterm_AreDrainedForAProgramOfOnesOwn) {
  EXPECT_FALSE(Parse({"--", "python", "train.py"})->exit_0_is_finished);
  EXPECT_TRUE(Parse({})->exit_0_is_finished);
  EXPECT_TRUE(Parse({"--", "/opt/pstrain-runtime"})->exit_0_is_finished);
  EXPECT_TRUE(Parse({"--exit-0-after-sigterm", "finished", "--", "a"})->exit_0_is_finished);
  EXPECT_TRUE(
      Parse({"--", "a"}, {{"PSTRAIN_EXIT_0_AFTER_SIGTERM", "finished"}})->exit_0_is_finished);
  EXPECT_FALSE(Parse({"--exit-0-after-sigterm=drained"})->exit_0_is_finished);
  const auto wrong = Parse({"--exit-0-after-sigterm=done", "--", "a"});
  EXPECT_EQ(wrong.status().message(),
            "--exit-0-after-sigterm (PSTRAIN_EXIT_0_AFTER_SIGTERM) is 'done'; it is drained or "
            "finished");
}

TEST(AgentOptions, WhenWrong_AreRefusedByName) {
  EXPECT_THAT(Parse({"--what"}).status().message(), HasSubstr("--what"));
  EXPECT_THAT(Parse({"python"}).status().message(), HasSubstr("python"));
  EXPECT_FALSE(Parse({"--"}).ok());
  EXPECT_THAT(Parse({"--grace-seconds"}).status().message(), HasSubstr("--grace-seconds"));
  EXPECT_FALSE(Parse({"--grace-seconds", "soon"}).ok());
  EXPECT_FALSE(Parse({"--metrics-address", "127.0.0.1"}).ok());
  EXPECT_FALSE(Parse({"--metrics-address", "127.0.0.1:70000"}).ok());
}

}  // namespace
}  // namespace pstrain
