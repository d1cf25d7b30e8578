#include "runtime/model/layers/unique_ids.h"

#include <algorithm>
#include <utility>

namespace pstrain {

UniqueIds MakeUnique(std::span<const std::uint64_t> ids) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted;
  sorted.reserve(ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) sorted.emplace_back(ids[i], i);
  std::sort(sorted.begin(), sorted.end());
  UniqueIds unique;
  unique.positions.resize(ids.size());
  for (const auto& [id, place] : sorted) {
    if (unique.rows.empty() || unique.rows.back() != id) unique.rows.push_back(id);
    unique.positions[place] = static_cast<std::uint32_t>(unique.rows.size() - 1);
  }
  return unique;
}

}  // namespace pstrain
