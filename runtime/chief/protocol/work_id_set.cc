#include "runtime/chief/protocol/work_id_set.h"

#include <algorithm>

namespace pstrain {

std::uint64_t WorkIdSet::Word(std::uint32_t epoch, std::size_t word) const {
  const auto it = chunks_.find(Key(epoch, word));
  return it == chunks_.end() ? 0 : it->second[word % kChunkWords];
}

void WorkIdSet::Add(std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  chunks_.try_emplace(Key(epoch, word), Chunk{}).first->second[word % kChunkWords] |= bits;
}

void WorkIdSet::Remove(std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  const auto it = chunks_.find(Key(epoch, word));
  if (it == chunks_.end()) return;
  it->second[word % kChunkWords] &= ~bits;
  // An empty chunk goes: empty() and the memory follow what is in the set, not what once was.
  if (std::ranges::all_of(it->second, [](std::uint64_t w) { return w == 0; })) chunks_.erase(it);
}

}  // namespace pstrain
