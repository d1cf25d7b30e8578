#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "runtime/requests/ids.h"

namespace pstrain {

/// A sparse set of work ids: bitmaps of 512 work ids each, only where there is something. Dense
/// regions cost under two bits per work id, absent ones nothing: what a shard has and another lacks
/// is usually little, and after a restore a long run of batches. Whole words of 64 work ids can be
/// read, added and removed, so that sets are compared without looking at each work id. `chunk` is
/// WorkId::epoch, `word` counts the words in it. Part of the bookkeeping of rule 4 (WorkLedger).
/// Invariant: a bitmap that is there has a bit. A value type; one thread at a time.
class WorkIdSet {
 public:
  static constexpr std::size_t kWordBits = 64;

  bool Contains(WorkId work_id) const {
    return ((Word(work_id.epoch, work_id.batch / kWordBits) >> (work_id.batch % kWordBits)) & 1) !=
           0;
  }
  void Insert(WorkId work_id) { Add(work_id.epoch, work_id.batch / kWordBits, Bit(work_id)); }
  void Erase(WorkId work_id) { Remove(work_id.epoch, work_id.batch / kWordBits, Bit(work_id)); }

  /// Work ids [64 * word, 64 * word + 64) of `chunk`: bit b is set when {chunk, 64 * word + b} is
  /// in the set.
  std::uint64_t Word(std::uint32_t chunk, std::size_t word) const;
  /// Union and difference with the work ids of these bits.
  void Add(std::uint32_t chunk, std::size_t word, std::uint64_t bits);
  void Remove(std::uint32_t chunk, std::size_t word, std::uint64_t bits);
  void Clear() { bitmaps_.clear(); }
  bool empty() const { return bitmaps_.empty(); }

 private:
  static constexpr std::size_t kBitmapWords = 8;
  using Bitmap = std::array<std::uint64_t, kBitmapWords>;

  static std::uint64_t Bit(WorkId work_id) {
    return std::uint64_t{1} << (work_id.batch % kWordBits);
  }
  static std::uint64_t Key(std::uint32_t chunk, std::size_t word) {
    return (std::uint64_t{chunk} << 32) | (word / kBitmapWords);
  }

  std::unordered_map<std::uint64_t, Bitmap> bitmaps_;
};

}  // namespace pstrain
