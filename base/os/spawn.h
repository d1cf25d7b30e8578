#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// What to start. A value.
struct SpawnRequest {
  /// argv[0] is looked up in PATH when it holds no slash. REQUIRES: not empty.
  std::vector<std::string> command;
  /// Set in the child's environment, over what this process has; of equal names the last counts.
  std::vector<std::pair<std::string, std::string>> environment;
  /// Kept open in the child under the same number; -1 for none.
  int inherited_fd = -1;
  /// Becomes the child's standard output and error, and its input is empty; -1: it has this
  /// process's.
  int output_fd = -1;
  /// Becomes the child's standard error, whatever output_fd says; -1: as output_fd says.
  int error_fd = -1;
  /// The signal mask and the action of SIGPIPE that the child starts with.
  sigset_t signal_mask{};
  bool ignore_sigpipe = false;
};

/// Starts the program in a process group of its own; the kernel kills it with SIGKILL when the
/// calling thread ends, so call it from a thread that lives as long as the process. Returns once
/// the program has taken over; the caller waits for its end. NOT_FOUND when there is no such
/// program; every other error when it cannot be run. Also with other threads about: nothing but
/// system calls happens between fork and exec.
Result<pid_t> Spawn(const SpawnRequest& request);

}  // namespace pstrain
