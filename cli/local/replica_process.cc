#include "cli/local/replica_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace pstrain::local {
namespace {

constexpr int kSignalExitBase = 128;

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs in the forked child: only async-signal-safe calls. Does not return.
[[noreturn]] void ExecChild(pid_t parent, int log_fd, int error_fd, char* const* arguments,
                            char* const* environment) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) {  // else the parent died before the line above
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd >= 0) dup2(null_fd, STDIN_FILENO);
    dup2(log_fd, STDOUT_FILENO);
    dup2(log_fd, STDERR_FILENO);
    execve(arguments[0], arguments, environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_fd, &error, sizeof(error));
  _exit(kSignalExitBase - 1);
}

}  // namespace

Result<ReplicaProcess> ReplicaProcess::Start(const ProcessSpec& spec) {
  const std::string& program = spec.arguments.front();
  const int log_fd = open(spec.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log_fd < 0) return ErrnoError(errno, "open " + spec.log_file);
  std::array<int, 2> error_pipe{};
  if (pipe2(error_pipe.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    close(log_fd);
    return ErrnoError(error, "pipe for " + program);
  }
  const std::vector<char*> arguments = Pointers(spec.arguments);
  const std::vector<char*> environment = Pointers(spec.environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  const int fork_error = errno;
  if (pid == 0) ExecChild(parent, log_fd, error_pipe[1], arguments.data(), environment.data());
  close(log_fd);
  close(error_pipe[1]);
  if (pid < 0) {
    close(error_pipe[0]);
    return ErrnoError(fork_error, "fork for " + program);
  }
  int exec_error = 0;
  ssize_t got = 0;
  do {
    got = read(error_pipe[0], &exec_error, sizeof(exec_error));
  } while (got < 0 && errno == EINTR);
  close(error_pipe[0]);
  if (got > 0) {
    waitpid(pid, nullptr, 0);
    return ErrnoError(exec_error, "start " + program);
  }
  return ReplicaProcess(pid, OpenPidfd(pid));
}

ReplicaProcess::ReplicaProcess(ReplicaProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, -1)),
      end_(other.end_) {}

ReplicaProcess::~ReplicaProcess() {
  if (pid_ > 0 && !end_) {
    KillGroup();
    waitpid(pid_, nullptr, 0);
  }
  if (pidfd_ >= 0) close(pidfd_);
}

void ReplicaProcess::Signal(int signal) const {
  if (!end_) kill(pid_, signal);
}

void ReplicaProcess::KillGroup() const { kill(-pid_, SIGKILL); }

std::optional<ProcessEnd> ReplicaProcess::TryWait() {
  if (end_) return end_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  // What the process left behind in its group must not outlive it; the group's number is ours until
  // its last member is gone.
  kill(-pid_, SIGKILL);
  ProcessEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.exit_code = kSignalExitBase + end.signal;
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  end_ = end;
  return end_;
}

Result<ForeignProcess> ForeignProcess::Open(pid_t pid) {
  const int pidfd = OpenPidfd(pid);
  if (pidfd < 0) return ErrnoError(errno, "pidfd_open " + std::to_string(pid));
  return ForeignProcess(pid, pidfd);
}

ForeignProcess::ForeignProcess(ForeignProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::exchange(other.pidfd_, -1)) {}

ForeignProcess& ForeignProcess::operator=(ForeignProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

ForeignProcess::~ForeignProcess() {
  if (pidfd_ >= 0) close(pidfd_);
}

bool ForeignProcess::Signal(int signal) const {
  return syscall(SYS_pidfd_send_signal, pidfd_, signal, nullptr, 0) == 0;
}

void ForeignProcess::KillWithGroup() const {
  if (!Signal(0)) return;
  if (getpgid(pid_) == pid_) kill(-pid_, SIGKILL);
  Signal(SIGKILL);
}

}  // namespace pstrain::local
