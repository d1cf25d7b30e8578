#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"

namespace pstrain {

/// The file of one generation of a run's catalog, <run>/variables/<generation>: the variables that
/// one declaration added while the run trained. It is there before any ps or worker hears of these
/// variables, and stays as long as the run. "PSTVARIB", u32 CRC-32C of the rest, u32 0, a
/// serialised CatalogGeneration. Pure; any thread.

/// Version of its format that this code writes and reads.
inline constexpr std::uint32_t kGenerationFormatVersion = 1;

/// `format_version` is set here.
std::string SerializeGeneration(CatalogGeneration generation);

/// DATA_LOSS when it is damaged or contradicts itself (no variable, or one of another generation),
/// FAILED_PRECONDITION for another format version.
Result<CatalogGeneration> ParseGeneration(std::string_view bytes);

}  // namespace pstrain
