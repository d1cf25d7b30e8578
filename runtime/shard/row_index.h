#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pstrain {

/// Numbers the rows of a table in the order in which they come up: key -> 0, 1, 2, ... Owner: one
/// TableShard; one thread.
class RowIndex {
 public:
  virtual ~RowIndex() = default;
  /// numbers[i] is the number of keys[i]; a key that is not known gets the next number. `numbers`
  /// is resized. REQUIRES: fewer than 2^32 keys in all.
  virtual void Resolve(std::span<const std::uint64_t> keys,
                       std::vector<std::uint32_t>* numbers) = 0;
  /// Asks memory for what Resolve of these keys will look at.
  virtual void Prefetch(std::span<const std::uint64_t> keys) const = 0;
  /// Keys known.
  virtual std::size_t size() const = 0;
  /// Memory held, about.
  virtual std::size_t bytes() const = 0;
};

/// A hash table.
std::unique_ptr<RowIndex> CreateHashRowIndex();

}  // namespace pstrain
