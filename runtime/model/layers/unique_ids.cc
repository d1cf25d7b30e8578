#include "runtime/model/layers/unique_ids.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace pstrain {
namespace {

/// An id and where it occurs.
using Occurrence = std::pair<std::uint64_t, std::uint32_t>;

constexpr int kDigitBits = 8;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
/// Of fewer ids, counting digits costs more than comparing ids.
constexpr std::size_t kFewestForDigits = 64;

/// Sorts by one digit; occurrences with the same digit stay in their order.
void SortByDigit(int shift, const std::vector<Occurrence>& from, std::vector<Occurrence>* to) {
  const auto digit = [shift](const Occurrence& occurrence) {
    return (occurrence.first >> shift) % kDigits;
  };
  std::array<std::uint32_t, kDigits> next{};
  for (const Occurrence& occurrence : from) ++next[digit(occurrence)];
  std::exclusive_scan(next.begin(), next.end(), next.begin(), std::uint32_t{0});
  for (const Occurrence& occurrence : from) (*to)[next[digit(occurrence)]++] = occurrence;
}

/// By id. A radix sort from the lowest digit on (Knuth, The Art of Computer Programming, 5.2.5): a
/// batch has a few hundred ids, and each id has two or three digits. A sort that compares them
/// loses more time to mispredicted branches than this one needs to count the digits.
void SortById(std::vector<Occurrence>* occurrences) {
  if (occurrences->size() < kFewestForDigits) {
    std::ranges::sort(*occurrences);
    return;
  }
  std::uint64_t used_bits = 0;
  for (const Occurrence& occurrence : *occurrences) used_bits |= occurrence.first;
  std::vector<Occurrence> other(occurrences->size());
  for (int shift = 0; shift < 64 && used_bits >> shift != 0; shift += kDigitBits) {
    SortByDigit(shift, *occurrences, &other);
    occurrences->swap(other);
  }
}

}  // namespace

UniqueIds MakeUnique(std::span<const std::uint64_t> ids) {
  std::vector<Occurrence> sorted;
  sorted.reserve(ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) sorted.emplace_back(ids[i], i);
  SortById(&sorted);
  UniqueIds unique;
  unique.rows.reserve(ids.size());
  unique.positions.resize(ids.size());
  for (const auto& [id, place] : sorted) {
    if (unique.rows.empty() || unique.rows.back() != id) unique.rows.push_back(id);
    unique.positions[place] = static_cast<std::uint32_t>(unique.rows.size() - 1);
  }
  return unique;
}

}  // namespace pstrain
