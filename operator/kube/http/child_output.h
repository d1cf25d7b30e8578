#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace pstrain::kube {

/// A program whose stdout is wanted. A value.
struct ChildRequest {
  /// The first is looked up in PATH when it holds no slash. REQUIRES: not empty.
  std::vector<std::string> command;
  /// Over what ChildEnvironment has.
  std::vector<std::pair<std::string, std::string>> environment = {};
  bool keeps_input = false;  // else its stdin is empty
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::size_t max_bytes = std::size_t{1} << 20;
};

struct ProgramOutput {
  int exit_code = 0;  // 128 + n after signal n
  std::string output;
};

/// Runs the program without a shell, in this process group, until it has ended: what it leaves
/// behind is not waited for. Its stderr is this process's. NOT_FOUND when there is no such program,
/// DEADLINE_EXCEEDED after the timeout, when it was killed; RESOURCE_EXHAUSTED for more output than
/// `max_bytes`. Blocks; any thread.
Result<ProgramOutput> RunForOutput(const ChildRequest& request);

/// The environment that children get: that of this process when it was called first. Whoever
/// changes variables for this process alone calls it before. Any thread while none changes the
/// environment.
const std::vector<std::string>& ChildEnvironment();

}  // namespace pstrain::kube
