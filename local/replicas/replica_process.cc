#include "local/replicas/replica_process.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/os/spawn.h"
#include "proto/contract/exit_codes.h"

namespace pstrain::local {
namespace {

UniqueFd OpenPidfd(pid_t pid) {
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace

Result<ReplicaProcess> ReplicaProcess::Start(const ProcessSpec& spec) {
  const UniqueFd log(open(spec.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!log.valid()) return ErrnoError(errno, "open " + spec.log_file);
  const Result<pid_t> pid =
      Spawn({.command = spec.arguments, .environment = spec.environment, .output_fd = log.get()});
  if (!pid.ok()) return pid.status();
  return ReplicaProcess(*pid, OpenPidfd(*pid));
}

ReplicaProcess::ReplicaProcess(ReplicaProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), end_(other.end_) {}

ReplicaProcess::~ReplicaProcess() {
  if (pid_ > 0 && !end_) {
    KillGroup();
    waitpid(pid_, nullptr, 0);
  }
}

void ReplicaProcess::Signal(int signal) const {
  if (!end_) kill(pid_, signal);
}

void ReplicaProcess::KillGroup() const { kill(-pid_, SIGKILL); }

std::optional<ProcessEnd> ReplicaProcess::TryWait() {
  if (end_) return end_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  ProcessEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.exit_code = ExitCodeOfSignal(end.signal);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  end_ = end;
  return end_;
}

Result<ForeignProcess> ForeignProcess::Open(pid_t pid) {
  UniqueFd pidfd = OpenPidfd(pid);
  if (!pidfd.valid()) return ErrnoError(errno, "pidfd_open " + std::to_string(pid));
  return ForeignProcess(pid, std::move(pidfd));
}

bool ForeignProcess::Signal(int signal) const {
  return syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0) == 0;
}

}  // namespace pstrain::local
