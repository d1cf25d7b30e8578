#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pstrain {

/// Ids without their duplicates, and where each occurrence went.
struct UniqueIds {
  /// Sorted, each once.
  std::vector<std::uint64_t> rows;
  /// Parallel to the ids: the position of each in `rows`.
  std::vector<std::uint32_t> positions;
};

/// Pure; any thread.
UniqueIds MakeUnique(std::span<const std::uint64_t> ids);

}  // namespace pstrain
