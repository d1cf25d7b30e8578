#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/simulation/mutations.h"

namespace pstrain::simulation {

/// Numbers of one seed; plain, because they come from another process.
struct ShellResult {
  /// Empty: every invariant held and the job finished.
  char error[1024] = "";
  std::uint64_t faults = 0;
  std::uint64_t long_faults = 0;
  std::uint64_t switches = 0;
  std::uint64_t starts = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t abandoned = 0;
  std::uint64_t reopened = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t refused = 0;
  std::uint64_t disk_errors = 0;
  std::uint64_t disk_lost = 0;
  std::uint64_t names_hidden = 0;
  /// Simulated.
  double seconds = 0;
  double seconds_after_last_fault = 0;
};

/// The peerTimeoutSeconds of a job that links are cut of.
inline constexpr std::chrono::seconds kLinkPatience{60};

/// Links that lose one direction for ever, the only fault of their seed.
struct CutForEver {
  /// Hosts, as Network has them: "ps-1".
  std::string from;
  std::string to;
  /// A replica that is told to stop when the link is cut, and started again: its shards move then.
  std::string stopped = {};
  /// Only calls are lost: answers to those of the other side get through.
  bool calls_only = false;
  /// Links that are cut at the same time.
  std::vector<std::pair<std::string, std::string>> more = {};
};

/// Runs a ShellSimulation (shell_simulation.h). REQUIRES: as there.
ShellResult RunShellSimulation(std::uint64_t seed, const std::string& directory,
                               const Mutations& mutations, const std::optional<CutForEver>& cut);

}  // namespace pstrain::simulation
