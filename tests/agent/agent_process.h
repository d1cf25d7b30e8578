#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pstrain {

/// How long a test waits for anything before it gives up.
inline constexpr std::chrono::seconds kTestDeadline{20};

struct HttpReply {
  int status = 0;  // 0: no answer
  std::string body;
};

/// A real pstrain-agent, started on a free port of 127.0.0.1. The destructor kills and reaps it.
/// For tests; one thread.
class AgentProcess {
 public:
  /// `options` stand before "--", `command` after it; `environment` is "NAME=VALUE" on top of the
  /// test's own. A `launcher` (a program and its arguments) is started instead and starts the
  /// agent; then pid() is its pid.
  AgentProcess(std::vector<std::string> options, std::vector<std::string> command,
               std::vector<std::string> environment = {}, std::vector<std::string> launcher = {});
  ~AgentProcess();
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits until stdout or stderr holds `text` and returns the rest of that line, or fails the
  /// test and returns "".
  std::string WaitForText(std::string_view text);
  /// The number after `text`.
  pid_t WaitForPid(std::string_view text);
  void Signal(int signal) const;
  /// The exit code, or minus the signal. Reads all output. Fails the test after the deadline.
  int Wait();
  /// Everything read so far.
  const std::string& output() const { return output_; }

  /// Waits until the agent says that its program runs: the program may speak before the agent has
  /// taken note of its pid.
  void WaitUntilRunning();

  std::uint16_t Port();
  HttpReply Get(std::string_view path) { return Ask("GET", path); }
  HttpReply Ask(std::string_view method, std::string_view path);

 private:
  bool ReadMore(std::chrono::steady_clock::time_point deadline);

  pid_t pid_ = -1;
  int pipe_ = -1;
  bool reaped_ = false;
  std::string output_;
};

/// Waits until there is no such process, or only its zombie. False after the deadline.
bool WaitUntilGone(pid_t pid);

}  // namespace pstrain
