#include "tests/agent/agent_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/clock.h"

namespace pstrain {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// True when the descriptor became readable before the deadline.
bool WaitReadable(int fd, SteadyTime deadline) {
  pollfd waited{fd, POLLIN, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyNow()).count();
  return left > 0 && poll(&waited, 1, static_cast<int>(left)) > 0;
}

bool WaitForExit(pid_t pid, SteadyTime deadline) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH;
  const bool ended = WaitReadable(fd, deadline);
  close(fd);
  return ended;
}

}  // namespace

AgentProcess::AgentProcess(std::vector<std::string> options, std::vector<std::string> command,
                           std::vector<std::string> environment,
                           std::vector<std::string> launcher) {
  std::vector<std::string> arguments = std::move(launcher);
  arguments.insert(arguments.end(),
                   {PSTRAIN_BIN_DIR "/pstrain-agent", "--metrics-address", "127.0.0.1:0"});
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), command.begin(), command.end());
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    // What the test's own parent left open is not the agent's doing.
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    execve(argv[0], argv.data(), envp.data());
    _exit(120);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

AgentProcess::~AgentProcess() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(pipe_);
}

bool AgentProcess::ReadMore(SteadyTime deadline) {
  if (!WaitReadable(pipe_, deadline)) return false;
  std::array<char, 4096> buffer{};
  const ssize_t got = read(pipe_, buffer.data(), buffer.size());
  if (got <= 0) return false;
  output_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

std::string AgentProcess::WaitForText(std::string_view text) {
  const auto deadline = SteadyNow() + kTestDeadline;
  while (true) {
    const std::size_t at = output_.find(text);
    const std::size_t end = at == std::string::npos ? at : output_.find('\n', at);
    if (end != std::string::npos) {
      const std::size_t begin = at + text.size();
      return output_.substr(begin, end - begin);
    }
    if (!ReadMore(deadline)) {
      ADD_FAILURE() << "no '" << text << "' in: " << output_;
      return "";
    }
  }
}

pid_t AgentProcess::WaitForPid(std::string_view text) {
  return std::atoi(WaitForText(text).c_str());
}

void AgentProcess::Signal(int signal) const { kill(pid_, signal); }

int AgentProcess::Wait() {
  const auto deadline = SteadyNow() + kTestDeadline;
  while (ReadMore(deadline)) {
  }
  if (!WaitForExit(pid_, deadline)) {
    ADD_FAILURE() << "the agent does not end: " << output_;
    return -1000;
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  reaped_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::uint16_t AgentProcess::Port() {
  return static_cast<std::uint16_t>(std::atoi(WaitForText("http://127.0.0.1:").c_str()));
}

void AgentProcess::WaitUntilRunning() {
  const auto deadline = SteadyNow() + kTestDeadline;
  std::string progress;
  while (progress.find("\"state\":\"running\"") == std::string::npos) {
    ASSERT_LT(SteadyNow(), deadline) << progress;
    progress = Get("/progress").body;
  }
}

HttpReply AgentProcess::Ask(std::string_view method, std::string_view path) {
  HttpReply reply;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(Port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request = std::string(method) + " " + std::string(path) +
                                " HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    const auto deadline = SteadyNow() + kTestDeadline;
    std::string answer;
    std::array<char, 65536> buffer{};
    while (WaitReadable(fd, deadline)) {
      const ssize_t got = read(fd, buffer.data(), buffer.size());
      if (got <= 0) break;
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const std::size_t space = answer.find(' ');
    const std::size_t body = answer.find("\r\n\r\n");
    if (space != std::string::npos) reply.status = std::atoi(answer.c_str() + space + 1);
    if (body != std::string::npos) reply.body = answer.substr(body + 4);
  }
  close(fd);
  return reply;
}

bool WaitUntilGone(pid_t pid) { return WaitForExit(pid, SteadyNow() + kTestDeadline); }

}  // namespace pstrain
