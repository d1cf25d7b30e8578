#include "local/guard.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/os/child_processes.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::local {
namespace {

sigset_t GuardSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals, signal);
  return signals;
}

/// In the child. A process group of its own: a terminal's Ctrl-C goes to the guard, which passes it
/// on, and is not seen twice.
int RunBody(const std::function<int()>& body, pid_t guard, const sigset_t& mask) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, GuardLostSignal());
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (getppid() != guard) return kExitFailure;  // killed before the first line above
  return body();
}

/// Reaps what has ended. The body's exit code when it was among them, else -1.
int Reap(pid_t body) {
  int code = -1;
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != body) continue;
    code = WIFSIGNALED(status) ? ExitCodeOfSignal(WTERMSIG(status)) : WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
      std::fprintf(stderr, "pstrain run: ended by signal %d; what it had started is killed\n",
                   WTERMSIG(status));
    }
  }
  return code;
}

}  // namespace

int GuardLostSignal() { return SIGUSR1; }

int RunGuarded(const std::function<int()>& body) {
  const sigset_t signals = GuardSignals();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, &signals, &mask);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t guard = getpid();
  const pid_t child = fork();
  if (child == 0) return RunBody(body, guard, mask);
  if (child < 0) {
    std::fprintf(stderr, "pstrain run: fork: %s\n", std::strerror(errno));
    return kExitFailure;
  }
  int code = -1;
  while (code < 0) {
    siginfo_t info{};
    const int signal = sigwaitinfo(&signals, &info);
    if (signal == SIGCHLD) {
      code = Reap(child);
    } else if (signal > 0) {
      kill(child, signal);
    }
  }
  KillChildrenExcept({});
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  return code;
}

}  // namespace pstrain::local
