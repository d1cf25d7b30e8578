#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace pstrain {

/// Numbers the rows of a table in the order in which they come up: key -> 0, 1, 2, ... A hash table
/// that is part of its owner, not behind a pointer: there is one per table and shard, a step asks
/// each of them for a few keys, and most of that is waiting for memory. Owner: one TableShard; one
/// thread.
class RowIndex {
 public:
  /// numbers[i] is the number of keys[i]; a key that is not known gets the next number. REQUIRES:
  /// as many numbers as keys; fewer than 2^32 keys in all.
  void Resolve(std::span<const std::uint64_t> keys, std::span<std::uint32_t> numbers) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto next = static_cast<std::uint32_t>(map_.size());
      numbers[i] = map_.try_emplace(keys[i], next).first->second;
    }
  }
  /// Asks memory for what Resolve of these keys will look at. Not inline: GCC takes a function that
  /// only prefetches for one without effect and, where it sees that, leaves the call out.
  void Prefetch(std::span<const std::uint64_t> keys) const;
  /// Keys known.
  std::size_t size() const { return map_.size(); }
  /// Memory held, about: a slot and its control byte for each place.
  std::size_t bytes() const {
    return map_.capacity() * (sizeof(std::pair<std::uint64_t, std::uint32_t>) + 1);
  }

 private:
  absl::flat_hash_map<std::uint64_t, std::uint32_t> map_;
};

}  // namespace pstrain
