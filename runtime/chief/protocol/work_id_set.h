#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "runtime/requests/ids.h"

namespace pstrain {

/// A sparse set of work ids: bitmaps of 512 batches each, only where there is something. Dense
/// regions cost under two bits per work id, absent ones nothing: what a shard has and another lacks
/// is usually little, and after a restore a long run of batches. Whole words of 64 work ids can be
/// read, added and removed, so that sets are compared without looking at each work id. A value
/// type; one thread at a time.
class WorkIdSet {
 public:
  static constexpr std::size_t kWordBits = 64;

  bool Contains(WorkId work_id) const {
    return ((Word(work_id.epoch, work_id.batch / kWordBits) >> (work_id.batch % kWordBits)) & 1) !=
           0;
  }
  void Insert(WorkId work_id) { Add(work_id.epoch, work_id.batch / kWordBits, Bit(work_id)); }
  void Erase(WorkId work_id) { Remove(work_id.epoch, work_id.batch / kWordBits, Bit(work_id)); }

  /// Batches [64 * word, 64 * word + 64) of `epoch`: bit b is set when batch 64 * word + b is in
  /// the set.
  std::uint64_t Word(std::uint32_t epoch, std::size_t word) const;
  /// Union and difference with the work ids of these bits.
  void Add(std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  void Remove(std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  void Clear() { bitmaps_.clear(); }
  bool empty() const { return bitmaps_.empty(); }

 private:
  static constexpr std::size_t kBitmapWords = 8;
  using Bitmap = std::array<std::uint64_t, kBitmapWords>;

  static std::uint64_t Bit(WorkId work_id) {
    return std::uint64_t{1} << (work_id.batch % kWordBits);
  }
  static std::uint64_t Key(std::uint32_t epoch, std::size_t word) {
    return (std::uint64_t{epoch} << 32) | (word / kBitmapWords);
  }

  std::unordered_map<std::uint64_t, Bitmap> bitmaps_;
};

}  // namespace pstrain
