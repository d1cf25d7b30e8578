#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/requests/ids.h"

namespace pstrain {

/// Some of the shards of a run, a bit each: what a report says of 64 shards is one word. Bits
/// beyond the run's shards are never set. A value; one thread at a time.
class ShardSet {
 public:
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::size_t WordsFor(std::uint32_t shards) {
    return (shards + kWordBits - 1) / kWordBits;
  }

  /// None of no shards.
  ShardSet() = default;
  /// None of so many.
  explicit ShardSet(std::uint32_t shards) : shards_(shards), words_(WordsFor(shards)) {}
  static ShardSet All(std::uint32_t shards) {
    ShardSet all(shards);
    for (std::size_t w = 0; w < all.words_.size(); ++w) all.words_[w] = Existing(shards, w);
    return all;
  }
  /// REQUIRES: as many words as there are for the shards, without bits beyond them.
  static ShardSet Of(std::uint32_t shards, std::vector<std::uint64_t> words) {
    ShardSet set;
    set.shards_ = shards;
    set.words_ = std::move(words);
    return set;
  }
  /// The bits of word `w` that stand for shards. REQUIRES: w < WordsFor(shards).
  static constexpr std::uint64_t Existing(std::uint32_t shards, std::size_t w) {
    const std::size_t rest = shards - w * kWordBits;
    return rest >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
  }

  /// REQUIRES: shard < shards().
  void Add(ShardId shard) { words_[shard / kWordBits] |= Bit(shard); }
  void Remove(ShardId shard) { words_[shard / kWordBits] &= ~Bit(shard); }
  /// False for a shard that the run does not have.
  bool Contains(ShardId shard) const {
    return shard < shards_ && (words_[shard / kWordBits] & Bit(shard)) != 0;
  }
  std::uint32_t count() const {
    std::uint32_t count = 0;
    for (const std::uint64_t word : words_)
      count += static_cast<std::uint32_t>(std::popcount(word));
    return count;
  }
  bool empty() const {
    for (const std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  /// Every shard of the run is in it.
  bool full() const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if (words_[w] != Existing(shards_, w)) return false;
    }
    return true;
  }
  /// Of the run, not of the set.
  std::uint32_t shards() const { return shards_; }
  std::span<const std::uint64_t> words() const { return words_; }

  /// Calls `work` with each shard of the set, ascending.
  template <typename Work>
  void ForEach(Work&& work) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        work(
            static_cast<ShardId>(w * kWordBits + static_cast<std::size_t>(std::countr_zero(bits))));
      }
    }
  }
  friend bool operator==(const ShardSet&, const ShardSet&) = default;

 private:
  static constexpr std::uint64_t Bit(ShardId shard) {
    return std::uint64_t{1} << (shard % kWordBits);
  }

  std::uint32_t shards_ = 0;
  std::vector<std::uint64_t> words_;
};

/// Shards in the terms that one membership names: what a report is about. Without terms, for the
/// chief knows since which of its memberships each shard has the term that it has.
struct ShardsInMembership {
  /// MembershipView::published_number().
  std::uint64_t membership = 0;
  ShardSet shards;
};

}  // namespace pstrain
