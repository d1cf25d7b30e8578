#include "runtime/shard/row_index.h"

namespace pstrain {

void RowIndex::Prefetch(std::span<const std::uint64_t> keys) const {
  for (const std::uint64_t key : keys) map_.prefetch(key);
}

}  // namespace pstrain
