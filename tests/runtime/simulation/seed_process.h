#pragma once

#include <cstdint>
#include <optional>

#include "tests/runtime/simulation/shell_result.h"

namespace pstrain::simulation {

/// Runs a seed in a process of its own, because what killed processes leave behind is never
/// destroyed, and so that a seed that crashes or hangs is one that fails. Its log is dropped unless
/// PSTRAIN_SIMULATION_LOG is set. Not from several threads.
ShellResult RunSeed(std::uint64_t seed, const Mutations& mutations = {},
                    const std::optional<PlannedFault>& planned = std::nullopt);

}  // namespace pstrain::simulation
