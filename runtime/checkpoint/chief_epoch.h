#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace pstrain {

/// Takes the next chief epoch: creates <run>/chiefs/<n> exclusively, n = highest + 1 (1 at first);
/// two chiefs never get the same. Makes the directories. Errors name the path.
Result<std::uint64_t> TakeChiefEpoch(const std::string& run_directory);

/// The highest that was taken; 0 when none was.
Result<std::uint64_t> HighestChiefEpoch(const std::string& run_directory);

/// OK while `epoch` is the highest, ABORTED when a higher one was taken.
Status CheckChiefEpoch(const std::string& run_directory, std::uint64_t epoch);

}  // namespace pstrain
