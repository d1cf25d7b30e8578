#include "base/os/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>

#include "base/os/unique_fd.h"

namespace pstrain {
namespace {

constexpr int kSpawnFailed = 127;

std::vector<std::string> MergedEnvironment(const SpawnRequest& request) {
  std::map<std::string, std::string> values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : request.environment) values[name] = value;
  std::vector<std::string> merged;
  merged.reserve(values.size());
  for (const auto& [name, value] : values) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs in the child; only async-signal-safe calls. Sends errno through the pipe when exec fails.
[[noreturn]] void ExecInChild(const SpawnRequest& request, char* const* argv, char* const* envp,
                              pid_t parent, int error_pipe) {
  const auto fail = [&]() {
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof(error));
    _exit(kSpawnFailed);
  };
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  // The parent may have ended before prctl took effect; then nobody would kill this process.
  if (getppid() != parent) _exit(kSpawnFailed);
  if (request.inherited_fd >= 0 && fcntl(request.inherited_fd, F_SETFD, 0) != 0) fail();
  if (request.output_fd >= 0) {
    const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (empty < 0 || dup2(empty, STDIN_FILENO) < 0 || dup2(request.output_fd, STDOUT_FILENO) < 0 ||
        dup2(request.output_fd, STDERR_FILENO) < 0) {
      fail();
    }
  }
  if (request.error_fd >= 0 && dup2(request.error_fd, STDERR_FILENO) < 0) fail();
  struct sigaction action{};
  action.sa_handler = request.ignore_sigpipe ? SIG_IGN : SIG_DFL;
  sigaction(SIGPIPE, &action, nullptr);
  sigprocmask(SIG_SETMASK, &request.signal_mask, nullptr);
  execvpe(argv[0], argv, envp);
  fail();
  _exit(kSpawnFailed);
}

}  // namespace

Result<pid_t> Spawn(const SpawnRequest& request) {
  std::vector<std::string> arguments = request.command;
  std::vector<std::string> environment = MergedEnvironment(request);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoError(errno, "make a pipe");
  const UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) ExecInChild(request, argv.data(), envp.data(), parent, to_parent.get());
  if (pid < 0) return ErrnoError(errno, "fork");
  to_parent.Reset();  // the child's copy is the last: its end ends the read below
  int exec_error = 0;
  ssize_t got;
  do {
    got = read(from_child.get(), &exec_error, sizeof(exec_error));
  } while (got < 0 && errno == EINTR);
  if (got == 0) return pid;
  waitpid(pid, nullptr, 0);
  return ErrnoError(exec_error, "start '" + request.command[0] + "'");
}

}  // namespace pstrain
