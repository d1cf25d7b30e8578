#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace pstrain {

/// Takes the next chief term: creates <run>/chiefs/<n> exclusively, n = highest + 1 (1 at first);
/// two chiefs never get the same. Makes the directories. Errors name the path.
Result<std::uint64_t> TakeChiefTerm(const std::string& run_directory);

/// The highest that was taken; 0 when none was.
Result<std::uint64_t> HighestChiefTerm(const std::string& run_directory);

/// OK while `term` is the highest, ABORTED when a higher one was taken.
Status CheckChiefTerm(const std::string& run_directory, std::uint64_t term);

}  // namespace pstrain
