#include "runtime/chief/protocol/work_id_set.h"

#include <algorithm>

namespace pstrain {

// Rules 4 and 7 compare sets a word at a time. Invariant: what is not there reads as 0, so that a
// set answers for every chunk, also for one that it never had.
std::uint64_t WorkIdSet::Word(std::uint32_t chunk, std::size_t word) const {
  const auto it = bitmaps_.find(Key(chunk, word));
  return it == bitmaps_.end() ? 0 : it->second[word % kBitmapWords];
}

// Rule 4, set | bits. Invariant: no bitmap is made for nothing, so that empty() is exact.
void WorkIdSet::Add(std::uint32_t chunk, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  bitmaps_.try_emplace(Key(chunk, word), Bitmap{}).first->second[word % kBitmapWords] |= bits;
}

// Rules 4 and 7, set & ~bits. Invariant: as Add's; an empty bitmap goes, so that empty() and the
// memory follow what is in the set, not what once was.
void WorkIdSet::Remove(std::uint32_t chunk, std::size_t word, std::uint64_t bits) {
  const auto it = bitmaps_.find(Key(chunk, word));
  if (it == bitmaps_.end()) return;
  it->second[word % kBitmapWords] &= ~bits;
  if (std::ranges::all_of(it->second, [](std::uint64_t w) { return w == 0; })) bitmaps_.erase(it);
}

}  // namespace pstrain
