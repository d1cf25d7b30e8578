#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/simulation/mutations.h"
#include "tests/runtime/simulation/nature.h"

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
  /// Calls whose token had expired, and calls of somebody else than the token says.
  std::uint64_t refused_expired = 0;
  std::uint64_t refused_others = 0;
  /// Peers that a chief had given up and that came back.
  std::uint64_t lost_peers = 0;
  /// Calls that have a ps restore shards.
  std::uint64_t restores = 0;
  /// As ObservedMessages.
  std::uint64_t other_chief = 0;
  std::uint64_t early_pulls = 0;
  std::uint64_t early_pushes = 0;
  std::uint64_t most_stale = 0;
  std::uint64_t disk_errors = 0;
  std::uint64_t disk_lost = 0;
  std::uint64_t names_hidden = 0;
  /// Variables that were declared while the job trained, without a plan.
  std::uint64_t declared = 0;
  /// As KnownHistories.
  std::uint64_t lives = 0;
  std::uint64_t marks = 0;
  std::uint64_t returns = 0;
  /// As KnownOutcomes, and what all chiefs have counted.
  std::uint64_t lost = 0;
  std::uint64_t lost_counted = 0;
  /// Simulated.
  double seconds = 0;
  double seconds_after_last_fault = 0;
};

/// The peerTimeoutSeconds of a job whose only fault is a planned one.
inline constexpr std::chrono::seconds kPlannedPatience{60};

/// What happens at one moment while the job trains, the only fault of its seed. Hosts are as
/// Network has them: "ps-1".
struct PlannedFault {
  /// Links that lose one direction for ever: from, to.
  std::vector<std::pair<std::string, std::string>> cut = {};
  /// Not before `stopped` is started again.
  bool cut_at_return = false;
  /// Of these only calls are lost: answers to those of the other side get through.
  bool calls_only = false;
  /// A replica that is told to stop, and started again: its shards move.
  std::string stopped = {};
  /// Replicas that are killed, and started again: their shards are restored.
  std::vector<std::string> killed = {};
  /// A replica whose next attempt starts while this one goes on.
  std::string abandoned = {};
  /// A replica that stands still for `lasts`.
  std::string paused = {};
  /// Hosts whose disks answer with `error_number` for `lasts`; only to writing, when that is
  /// ENOSPC.
  std::vector<std::string> failing_disks = {};
  int error_number = 0;
  std::chrono::seconds lasts{0};
  /// When it happens: so long after the job has begun, or while the program's main waits for its
  /// mark of that number.
  std::chrono::seconds begins{3};
  std::uint64_t at_mark = 0;
  /// Only with the next push that comes to a ps, and it does not come to the other one.
  bool in_push = false;
  /// The chief that puts this mark in place gets to it after `lasts`, and the next one starts
  /// meanwhile.
  bool mark_is_late = false;
  /// A replica that is killed so long after all that.
  std::string killed_later = {};
  std::chrono::milliseconds later{0};
  /// A replica whose host loses its power.
  std::string power_lost = {};
  /// Replicas show tokens, as in a cluster; for so long none is replaced.
  bool identified = false;
  std::chrono::seconds no_new_tokens{0};
  /// A replica that runs; with its tokens somebody says to be its next attempt.
  std::string impostor = {};
  /// From the beginning on, listings lack for so long what another node has made.
  std::chrono::seconds stale_listings{0};
  /// Links that lose one direction for `lasts`, while variables are declared.
  std::vector<std::pair<std::string, std::string>> cut_while_declaring = {};
  /// All are told to stop, and started again a few seconds later.
  bool suspended = false;
  /// From the beginning on, a call on a file takes the evaluator so long at most.
  std::chrono::milliseconds evaluator_reads_for{0};
  std::uint32_t workers = 2;
  /// A power of two.
  std::string learning_rate = "0.5";
  Nature nature = {};
};

/// Runs a ShellSimulation (shell_simulation.h). REQUIRES: as there.
ShellResult RunShellSimulation(std::uint64_t seed, const std::string& directory,
                               const Mutations& mutations,
                               const std::optional<PlannedFault>& planned);

}  // namespace pstrain::simulation
