#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/os/unique_fd.h"
#include "base/status.h"

namespace pstrain::local {

/// What to start.
struct ProcessSpec {
  std::vector<std::string> arguments;  // arguments[0] is the path of the program
  std::vector<std::pair<std::string, std::string>> environment;  // over our own
  std::string log_file;  // stdout and stderr are appended to it
};

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  // 128 + signal when a signal ended it
  int signal = 0;
};

/// A child process in a process group of its own that dies with the thread that started it
/// (PR_SET_PDEATHSIG). Owner: ReplicaSet; one thread. The destructor kills the group and waits.
class ReplicaProcess {
 public:
  /// Returns when the program has been exec'd; its exec error otherwise.
  static Result<ReplicaProcess> Start(const ProcessSpec& spec);

  ReplicaProcess(ReplicaProcess&& other) noexcept;
  ReplicaProcess& operator=(ReplicaProcess&&) = delete;
  ~ReplicaProcess();

  pid_t pid() const { return pid_; }
  /// Readable when the process has ended; for poll(2).
  int pidfd() const { return pidfd_.get(); }

  /// Signals the process alone. No effect when it has ended.
  void Signal(int signal) const;
  /// SIGKILLs its process group.
  void KillGroup() const;
  /// Its end, when it has ended; does not block. The process is reaped by the first such call.
  std::optional<ProcessEnd> TryWait();

 private:
  ReplicaProcess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_;
  UniqueFd pidfd_;
  std::optional<ProcessEnd> end_;
};

/// A process that another one started, here the training program below an agent; --chaos kills it.
/// It is held by a pidfd: this process is not its parent and cannot wait for it, so its pid could
/// come to mean another process, which a signal would then hit. Owner: its Attempt; one thread. The
/// destructor leaves the process alone.
class ForeignProcess {
 public:
  /// NOT_FOUND when there is no such process.
  static Result<ForeignProcess> Open(pid_t pid);

  pid_t pid() const { return pid_; }
  /// False when it has ended already.
  bool Signal(int signal) const;

 private:
  ForeignProcess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_;
  UniqueFd pidfd_;
};

}  // namespace pstrain::local
