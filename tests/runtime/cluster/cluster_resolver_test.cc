#include "runtime/cluster/cluster_resolver.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

constexpr char kCluster[] =
    R"("cluster":{"chief":["c.job:2222"],"ps":["127.0.0.1:7000","p1.job:2222"],"worker":["w0:1"]})";

std::string Config(const std::string& task) {
  return std::string("{") + kCluster + ",\"task\":" + task + "}";
}

TEST(ResolveTask, WhenAPsHasALiteral_ListensThere) {
  const auto task = ResolveTask(Config(R"({"type":"ps","index":0})"));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->role, Role::kPs);
  EXPECT_EQ(task->index, 0u);
  EXPECT_EQ(task->own_address, "127.0.0.1:7000");
  EXPECT_EQ(task->listen_address, "127.0.0.1:7000");
  EXPECT_EQ(task->chief_address, "c.job:2222");
}

TEST(ResolveTask, WhenATaskHasAName_ListensOnAllInterfaces) {
  const auto task = ResolveTask(Config(R"({"type":"ps","index":1})"));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->own_address, "p1.job:2222");
  EXPECT_EQ(task->listen_address, "[::]:2222");
}

TEST(ResolveTask, WhenAnEvaluator_HasNoAddressButAChief) {
  const auto task = ResolveTask(Config(R"({"type":"evaluator","index":0})"));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->role, Role::kEvaluator);
  EXPECT_TRUE(task->own_address.empty());
  EXPECT_TRUE(task->listen_address.empty());
  EXPECT_EQ(task->chief_address, "c.job:2222");
}

TEST(ResolveTask, WhenTheTaskIsNotInTheCluster_IsRefused) {
  for (const char* task : {R"({"type":"ps","index":2})", R"({"type":"other","index":0})",
                           R"({"type":"worker","index":-1})"}) {
    EXPECT_EQ(ResolveTask(Config(task)).status().code(), StatusCode::kInvalidArgument) << task;
  }
}

TEST(ResolveTask, WhenThereIsNoChief_IsRefused) {
  const auto task =
      ResolveTask(R"({"cluster":{"worker":["w:1"]},"task":{"type":"worker","index":0}})");
  EXPECT_EQ(task.status().code(), StatusCode::kInvalidArgument);
}

TEST(ResolveTask, WhenNotJson_IsRefused) {
  EXPECT_EQ(ResolveTask("{").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
