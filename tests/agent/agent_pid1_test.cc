// The agent as the first process of a pid namespace, as in a container.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/os/child_processes.h"
#include "tests/agent/agent_process.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr const char* kChild = PSTRAIN_AGENT_TEST_CHILD;

class AgentAsPid1 : public ::testing::Test {
 protected:
  void SetUp() override {
    launcher_ = {"/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc"};
    if (geteuid() != 0) launcher_.insert(launcher_.begin() + 1, "--map-root-user");
    if (access(launcher_.front().c_str(), X_OK) != 0) GTEST_SKIP() << "there is no unshare";
    AgentProcess probe({}, {"true"}, {}, launcher_);
    if (probe.Wait() != 0) GTEST_SKIP() << "no pid namespace may be made: " << probe.output();
  }

  /// The agent's pid outside of its namespace.
  static pid_t AgentOf(const AgentProcess& launched) {
    const std::vector<pid_t> children = ChildProcesses(launched.pid());
    EXPECT_EQ(children.size(), 1U);
    return children.empty() ? -1 : children.front();
  }

  std::vector<std::string> launcher_;
};

TEST_F(AgentAsPid1, WhenItStartsTheProgram_IsItsParentAndPassesTheExitCodeOn) {
  AgentProcess agent({}, {"sh", "-c", "echo parent $PPID; exit 7"}, {}, launcher_);
  EXPECT_EQ(agent.WaitForText("parent "), "1");
  EXPECT_EQ(agent.Wait(), 7);
}

TEST_F(AgentAsPid1, WhenToldToStop_PassesItOn) {
  // The kernel drops signals to a first process that has no handler and does not block them.
  AgentProcess agent({}, {kChild, "signals"}, {}, launcher_);
  agent.WaitForText("up ");
  ASSERT_EQ(kill(AgentOf(agent), SIGTERM), 0);
  EXPECT_EQ(agent.Wait(), 85);
  EXPECT_THAT(agent.output(), HasSubstr("got 15\n"));
}

TEST_F(AgentAsPid1, WhenAnOrphanEnds_ReapsIt) {
  // A zombie can still be signalled; only a reaped process cannot.
  const std::string program =
      "orphan=$(sleep 0 > /dev/null & echo $!); "
      "while kill -0 $orphan 2> /dev/null; do :; done; echo reaped; exit 3";
  AgentProcess agent({}, {"sh", "-c", program}, {}, launcher_);
  agent.WaitForText("reaped");
  EXPECT_EQ(agent.Wait(), 3);
}

TEST_F(AgentAsPid1, WhenAnOrphanDoesNotEnd_EndsWithoutIt) {
  const std::string program = "(setsid sleep 1000 > /dev/null & ); exit 4";
  AgentProcess agent({}, {"sh", "-c", program}, {}, launcher_);
  EXPECT_EQ(agent.Wait(), 4);
}

}  // namespace
}  // namespace pstrain
