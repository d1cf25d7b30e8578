#include "agent/supervisor.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/os/child_processes.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

constexpr std::array<int, 6> kForwarded = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
/// Whoever stops a replica sends one of these: SIGTERM, an image's STOPSIGNAL, a person's Ctrl-C.
bool AsksToStop(int signal) { return signal == SIGTERM || signal == SIGINT; }

constexpr std::chrono::seconds kKillBeforeGraceEnds{1};
/// For what is left to go away after SIGKILL; a process in the kernel's hands may take longer.
constexpr std::chrono::seconds kCleanUpLimit{2};

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

std::chrono::milliseconds TimeUntilKill(std::chrono::milliseconds grace) {
  return std::max(grace - kKillBeforeGraceEnds, grace / 2);
}

bool HasEnded(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

int PollTimeoutMs(std::optional<SteadyTime> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - SteadyNow());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

}  // namespace

Result<Supervisor> Supervisor::Make(AgentState& state) {
  const sigset_t watched = WatchedSignals();
  sigset_t original;
  if (const int error = pthread_sigmask(SIG_BLOCK, &watched, &original); error != 0) {
    return ErrnoError(error, "block signals");
  }
  struct sigaction sigpipe{};
  sigaction(SIGPIPE, nullptr, &sigpipe);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    LogWarning("agent", "cannot become the reaper of orphans",
               {{"error", ErrnoError(errno, "prctl")}});
  }
  UniqueFd signals(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return ErrnoError(errno, "make a signalfd");
  return Supervisor(state, std::move(signals), original, sigpipe.sa_handler == SIG_IGN);
}

ProgramExit Supervisor::Run(SpawnRequest program, std::chrono::milliseconds grace,
                            const OomWatch& oom) {
  const std::uint64_t oom_kills_before = oom.Kills();
  program.signal_mask = original_mask_;
  program.ignore_sigpipe = sigpipe_ignored_;
  const auto child = Spawn(program);
  ProgramExit end;
  if (!child.ok()) {
    end.started = false;
    end.code = child.status().code() == StatusCode::kNotFound ? kExitNotFound : kExitNotExecutable;
    end.error = "cannot " + child.status().message();
  } else {
    state_.child_pid = *child;
    state_.phase = AgentPhase::kRunning;
    end = WaitForExit(*child, grace);
    end.told_to_stop = told_to_stop_;
    end.out_of_memory =
        end.signal == SIGKILL && !end.grace_expired && oom.Kills() > oom_kills_before;
  }
  state_.child_pid = 0;
  state_.phase = AgentPhase::kEnded;
  KillWhatIsLeft();
  return end;
}

ProgramExit Supervisor::WaitForExit(pid_t child, std::chrono::milliseconds grace) {
  while (true) {
    if (auto end = Reap(child)) {
      end->grace_expired = state_.phase == AgentPhase::kKilling && end->signal == SIGKILL;
      return *std::move(end);
    }
    if (!WaitForSignal(kill_at_)) {
      LogWarning("agent", "the training program did not stop in time: killing it",
                 {{"pid", child}, {"grace_ms", grace.count()}});
      state_.phase = AgentPhase::kKilling;
      kill_at_.reset();
      kill(-child, SIGKILL);
      continue;
    }
    HandleSignals(child, grace);
  }
}

bool Supervisor::WaitForSignal(std::optional<SteadyTime> deadline) {
  pollfd waited{signal_fd_.get(), POLLIN, 0};
  while (true) {
    const int ready = poll(&waited, 1, PollTimeoutMs(deadline));
    if (ready > 0) return true;
    if (ready == 0) return false;
  }
}

void Supervisor::HandleSignals(pid_t child, std::chrono::milliseconds grace) {
  signalfd_siginfo info{};
  while (read(signal_fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD || state_.phase == AgentPhase::kKilling) continue;
    // A program that has ended already, and is a zombie until it is reaped, was not told any more.
    const bool runs = !HasEnded(child);
    kill(child, signal);
    if (!AsksToStop(signal)) continue;
    ++state_.stop_requests;
    told_to_stop_ |= runs;
    if (state_.phase == AgentPhase::kRunning) {
      state_.phase = AgentPhase::kStopping;
      kill_at_ = SteadyNow() + TimeUntilKill(grace);
    }
  }
}

std::optional<ProgramExit> Supervisor::Reap(pid_t child) {
  while (true) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      return std::nullopt;
    }
    const pid_t pid = info.si_pid;
    // While it is a zombie its number cannot be given to another group.
    if (pid == child) kill(-child, SIGKILL);
    waitpid(pid, nullptr, 0);
    if (pid != child) {
      ++state_.orphans_reaped;
      continue;
    }
    ProgramExit end;
    (info.si_code == CLD_EXITED ? end.code : end.signal) = info.si_status;
    return end;
  }
}

void Supervisor::KillWhatIsLeft() {
  const auto deadline = SteadyNow() + kCleanUpLimit;
  while (true) {
    for (const pid_t pid : ChildProcesses(getpid())) kill(pid, SIGKILL);
    pid_t reaped;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) ++state_.orphans_reaped;
    if (reaped < 0) return;  // ECHILD: nothing is left
    if (!WaitForSignal(deadline)) {
      LogWarning("agent", "processes are left that do not go away");
      return;
    }
    signalfd_siginfo info{};
    while (read(signal_fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    }
  }
}

}  // namespace pstrain
