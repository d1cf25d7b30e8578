#include "runtime/chief/protocol/work_id_set.h"

#include <algorithm>

namespace pstrain {

std::uint64_t WorkIdSet::Word(std::uint32_t epoch, std::size_t word) const {
  const auto it = bitmaps_.find(Key(epoch, word));
  return it == bitmaps_.end() ? 0 : it->second[word % kBitmapWords];
}

void WorkIdSet::Add(std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  bitmaps_.try_emplace(Key(epoch, word), Bitmap{}).first->second[word % kBitmapWords] |= bits;
}

void WorkIdSet::Remove(std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  const auto it = bitmaps_.find(Key(epoch, word));
  if (it == bitmaps_.end()) return;
  it->second[word % kBitmapWords] &= ~bits;
  // An empty bitmap goes: empty() and the memory follow what is in the set, not what once was.
  if (std::ranges::all_of(it->second, [](std::uint64_t w) { return w == 0; })) bitmaps_.erase(it);
}

}  // namespace pstrain
