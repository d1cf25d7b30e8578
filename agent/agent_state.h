#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace pstrain {

/// Where the supervisor is; see supervisor.h for the table.
enum class AgentPhase : std::uint8_t { kStarting, kRunning, kStopping, kKilling, kEnded };

inline std::string_view AgentPhaseName(AgentPhase phase) {
  constexpr std::array<std::string_view, 5> kNames = {"starting", "running", "stopping", "killing",
                                                      "ended"};
  return kNames[static_cast<std::size_t>(phase)];
}

/// What the admin server's threads see of the supervisor, which alone writes it. Owner: main.
struct AgentState {
  std::atomic<AgentPhase> phase{AgentPhase::kStarting};
  /// 0 before the training program runs and after it was reaped.
  std::atomic<pid_t> child_pid{0};
  /// Signals that asked to stop, each counted.
  std::atomic<std::uint64_t> stop_requests{0};
  /// Processes that were not the training program itself and were reaped.
  std::atomic<std::uint64_t> orphans_reaped{0};

  bool ChildRuns() const { return child_pid.load(std::memory_order_relaxed) != 0; }
};

}  // namespace pstrain
