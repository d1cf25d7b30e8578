#include "base/os/child_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pstrain {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

pid_t StartPausing() {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  return pid;
}

/// A child that has a child of its own in another session; tells that one's pid.
pid_t StartFamily(pid_t& grandchild) {
  int fds[2];
  EXPECT_EQ(pipe(fds), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const pid_t inner = fork();
    if (inner == 0) {
      setsid();
      for (;;) pause();
    }
    if (write(fds[1], &inner, sizeof(inner)) < 0) _exit(1);
    for (;;) pause();
  }
  EXPECT_EQ(read(fds[0], &grandchild, sizeof(grandchild)),
            static_cast<ssize_t>(sizeof(grandchild)));
  close(fds[0]);
  close(fds[1]);
  return pid;
}

TEST(ChildProcesses, NamesChildrenUntilTheyAreWaitedFor) {
  const pid_t pid = StartPausing();
  EXPECT_THAT(ChildProcesses(getpid()), Contains(pid));
  kill(pid, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  EXPECT_THAT(ChildProcesses(getpid()), Contains(pid));
  waitpid(pid, nullptr, 0);
  EXPECT_THAT(ChildProcesses(getpid()), IsEmpty());
}

TEST(KillChildrenExcept, KillsWhatTheyLeaveBehind) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t kept = StartPausing();
  pid_t grandchild = 0;
  StartFamily(grandchild);
  KillChildrenExcept({kept});
  EXPECT_THAT(ChildProcesses(getpid()), ::testing::ElementsAre(kept));
  EXPECT_NE(kill(grandchild, 0), 0);
  KillChildrenExcept({});
  EXPECT_THAT(ChildProcesses(getpid()), IsEmpty());
}

}  // namespace
}  // namespace pstrain
