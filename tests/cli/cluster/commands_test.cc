#include "cli/cluster/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/cluster/problem.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

TEST(ClusterCommandsTest, SaysThatThereIsNoKubeconfig) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(StatusCommand({"--kubeconfig", "/nowhere/config"}), cluster::kExitNoKubeconfig);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("/nowhere/config"));
}

TEST(ClusterCommandsTest, RefusesWrongUsage) {
  EXPECT_EQ(StatusCommand({"a", "b"}), 2);
  EXPECT_EQ(StatusCommand({"-o", "yaml"}), 2);
  EXPECT_EQ(SuspendCommand({}), 2);
  EXPECT_EQ(RestartCommand({"a"}), 2);
  EXPECT_EQ(WaitCommand({"a", "--timeout", "soon"}), 2);
  EXPECT_EQ(EventsCommand({"a", "--unknown"}), 2);
  EXPECT_EQ(LogsCommand({"a", "--tail", "-1"}), 2);
  EXPECT_EQ(TopCommand({}), 2);
  EXPECT_EQ(DescribeConfigCommand({}), 2);
  EXPECT_EQ(DebugCommand({"a", "b"}), 2);
  EXPECT_EQ(DebugCommand({"bundle"}), 2);
}

}  // namespace
}  // namespace pstrain
