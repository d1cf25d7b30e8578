#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/stated_failure.h"

namespace pstrain::local {

/// What an agent's /progress said.
struct AgentReading {
  std::int64_t child_pid = 0;  // 0: none runs
  std::string state;
  std::map<std::string, double, std::less<>> values;
  /// Of a program that has exited 87, what it says of it.
  std::optional<StatedFailure> failure;
  /// The agent's words of a failure that the program does not state; else empty.
  std::string message;

  /// A stat by its key; 0 when absent.
  double Value(std::string_view key) const;
};

/// Parses the body of /progress. INVALID_ARGUMENT when it is not of that form. Pure; any thread.
Result<AgentReading> ParseAgentReading(std::string_view body);

}  // namespace pstrain::local
