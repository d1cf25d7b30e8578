#include "proto/contract/task_env.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pstrain {
namespace {

EnvironmentLookup LookupIn(const std::map<std::string, std::string, std::less<>>& variables) {
  return [&variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(TaskEnv_WrittenAndRead, IsTheSame) {
  const TaskEnv env{.job_name = "adult",
                    .name_space = "team",
                    .replica_type = "ps",
                    .replica_index = 3,
                    .attempt = 2,
                    .run_id = "abc",
                    .metrics_address = "127.0.0.1:0",
                    .job_file = "/x/job.yaml",
                    .grace_seconds = 5,
                    .scratch_dir = "/scratch",
                    .ps_replicas_file = "/live/ps-replicas",
                    .data_address = "grpc://10.0.0.7:0",
                    .most_workers = 4,
                    .stats_fd = 7};
  std::map<std::string, std::string, std::less<>> variables;
  for (const auto& [name, value] : ToEnvironment(env)) variables[name] = value;
  const auto again = FromEnvironment(LookupIn(variables));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(*again, env);
}

TEST(TaskEnv_WhenEmpty, IsRefusedOnlyIfATaskIsRequired) {
  const std::map<std::string, std::string, std::less<>> none;
  EXPECT_EQ(FromEnvironment(LookupIn(none)).status().message(), "PSTRAIN_JOB_NAME: is not set");
  const auto env = FromEnvironment(LookupIn(none), false);
  ASSERT_TRUE(env.ok());
  EXPECT_EQ(*env, TaskEnv());
}

TEST(TaskEnv_WhenAValueIsBad, NamesTheVariable) {
  const auto message = [](std::string name, std::string value) {
    std::map<std::string, std::string, std::less<>> variables = {
        {std::move(name), std::move(value)}};
    return FromEnvironment(LookupIn(variables), false).status().message();
  };
  EXPECT_EQ(message("PSTRAIN_REPLICA_INDEX", "x"),
            "PSTRAIN_REPLICA_INDEX: must be a whole number from 0; found x");
  EXPECT_EQ(message("PSTRAIN_ATTEMPT", "-1"),
            "PSTRAIN_ATTEMPT: must be a whole number from 0; found -1");
  EXPECT_EQ(message("PSTRAIN_REPLICA_TYPE", "boss"),
            "PSTRAIN_REPLICA_TYPE: must be chief, ps, worker or evaluator; found boss");
  EXPECT_EQ(message("PSTRAIN_METRICS_ADDRESS", "host"),
            "PSTRAIN_METRICS_ADDRESS: must be host:port; found host");
  EXPECT_EQ(message("PSTRAIN_METRICS_ADDRESS", "host:70000"),
            "PSTRAIN_METRICS_ADDRESS: must be host:port; found host:70000");
}

}  // namespace
}  // namespace pstrain
