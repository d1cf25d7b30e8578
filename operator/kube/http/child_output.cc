#include "operator/kube/http/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/clock.h"
#include "base/os/unique_fd.h"

namespace pstrain::kube {
namespace {

std::vector<std::string> Merged(const ChildRequest& request) {
  std::vector<std::string> merged = ChildEnvironment();
  for (const auto& [name, value] : request.environment) {
    std::erase_if(merged, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    merged.push_back(name + "=" + value);
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> Start(const ChildRequest& request, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (!request.keeps_input) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  // This process ignores it.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> command = request.command;
  std::vector<std::string> environment = Merged(request);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, command.front().c_str(), &actions, &attributes,
                                 Pointers(command).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return ErrnoError(error, "start '" + request.command.front() + "'");
  return pid;
}

int MillisUntil(SteadyTime deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyNow()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

/// Appends what can be read; false at the end of the stream.
Result<bool> ReadSome(int fd, std::size_t most, std::string& output) {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::read(fd, bytes.data(), bytes.size());
  if (got < 0 && errno != EINTR) return ErrnoError(errno, "read what it writes");
  if (got == 0) return false;
  if (got > 0) output.append(bytes.data(), static_cast<std::size_t>(got));
  if (output.size() > most) {
    return ResourceExhaustedError("it has written more than " + std::to_string(most) + " bytes");
  }
  return true;
}

/// Until the program has ended and nothing of its output is left.
Status Collect(int pipe, int ended, SteadyTime deadline, std::size_t most, std::string& output) {
  std::array<pollfd, 2> fds = {pollfd{pipe, POLLIN, 0}, pollfd{ended, POLLIN, 0}};
  while (true) {
    const int ready = ::poll(fds.data(), fds.size(), MillisUntil(deadline));
    if (ready < 0 && errno != EINTR) return ErrnoError(errno, "wait for it");
    if (ready < 0) continue;
    if (ready == 0) return DeadlineExceededError("it has not ended in time and was killed");
    if (fds[0].revents != 0) {
      PSTRAIN_ASSIGN_OR_RETURN(const bool more, ReadSome(pipe, most, output));
      if (!more) fds[0].fd = -1;
    } else if (fds[1].revents != 0) {
      return OkStatus();
    }
  }
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  constexpr int kSignalBase = 128;
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

const std::vector<std::string>& ChildEnvironment() {
  static const std::vector<std::string> environment = [] {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
  }();
  return environment;
}

Result<ProgramOutput> RunForOutput(const ChildRequest& request) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoError(errno, "make a pipe");
  const UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  const SteadyTime deadline = SteadyNow() + request.timeout;
  PSTRAIN_ASSIGN_OR_RETURN(const pid_t pid, Start(request, to_parent.get()));
  to_parent.Reset();
  const UniqueFd ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  ProgramOutput end;
  const Status status = ended.valid() ? Collect(from_child.get(), ended.get(), deadline,
                                                request.max_bytes, end.output)
                                      : ErrnoError(errno, "watch the process");
  if (!status.ok()) ::kill(pid, SIGKILL);
  end.exit_code = WaitFor(pid);
  if (!status.ok()) return status;
  return end;
}

}  // namespace pstrain::kube
