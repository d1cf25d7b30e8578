#include "runtime/shard/applied_set.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace pstrain {
namespace {

// "PAS1": the first version of the format. All fields are little-endian.
//   u32 magic, u32 batches per epoch, u32 low-water mark, u32 number of open epochs,
//   then per open epoch, ascending: u32 epoch, u64 x ceil(batches / 64) bits.
constexpr std::uint32_t kMagic = 0x31534150;
constexpr std::size_t kWordBits = 64;

std::size_t WordsFor(std::uint32_t batches) { return (batches + kWordBits - 1) / kWordBits; }

// The bits of word `index` that stand for batches.
std::uint64_t ValidBits(std::uint32_t batches, std::size_t index) {
  const std::size_t rest = batches - index * kWordBits;
  return rest >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
}

template <typename T>
void Append(T value, std::string* out) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
}

// Takes a number off the front of `bytes`. REQUIRES: bytes.size() >= sizeof(T).
template <typename T>
T Take(std::string_view* bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>((*bytes)[i])) << (8 * i));
  }
  bytes->remove_prefix(sizeof(T));
  return value;
}

}  // namespace

AppliedSet::AppliedSet(std::uint32_t batches_per_epoch) : batches_per_epoch_(batches_per_epoch) {}

bool AppliedSet::Contains(WorkId work_id) const {
  if (work_id.epoch < low_water_) return true;
  const auto it = open_.find(work_id.epoch);
  if (it == open_.end() || work_id.batch >= batches_per_epoch_) return false;
  return ((it->second.bits[work_id.batch / kWordBits] >> (work_id.batch % kWordBits)) & 1) != 0;
}

// The test for a duplicate and the insertion are one call, so that no caller can apply a gradient
// between them or forget the second.
bool AppliedSet::Insert(WorkId work_id) {
  if (work_id.epoch < low_water_ || work_id.epoch >= kMostEpochs) return false;
  if (work_id.batch >= batches_per_epoch_) return false;
  Epoch& epoch = open_[work_id.epoch];
  if (epoch.bits.empty()) epoch.bits.resize(WordsFor(batches_per_epoch_));
  std::uint64_t& word = epoch.bits[work_id.batch / kWordBits];
  const std::uint64_t bit = std::uint64_t{1} << (work_id.batch % kWordBits);
  if ((word & bit) != 0) return false;
  word |= bit;
  ++epoch.count;
  if (work_id == first_absent_) PassPresent();
  return true;
}

// Bits are only added, so each word is passed once in the life of a set.
void AppliedSet::PassPresent() {
  auto it = open_.find(first_absent_.epoch);
  while (it != open_.end() && it->first == first_absent_.epoch) {
    std::uint32_t& batch = first_absent_.batch;
    while (batch < batches_per_epoch_) {
      const std::uint64_t word = it->second.bits[batch / kWordBits] >> (batch % kWordBits);
      const auto present = static_cast<std::uint32_t>(std::countr_one(word));
      batch += present;
      if (present == 0 || batch % kWordBits != 0) break;
    }
    if (batch < batches_per_epoch_) return;
    first_absent_ = {it->first + 1, 0};
    ++it;
  }
}

bool AppliedSet::EpochComplete(std::uint32_t epoch) const {
  if (epoch < low_water_ || batches_per_epoch_ == 0) return true;
  const auto it = open_.find(epoch);
  return it != open_.end() && it->second.count == batches_per_epoch_;
}

// Stops at the first epoch that lacks a batch, whatever the caller believes: below the low-water
// mark every batch counts as applied, so to pass over a gap would lose its gradient for good.
void AppliedSet::CloseEpochsBelow(std::uint32_t epoch) {
  while (low_water_ < epoch && EpochComplete(low_water_)) {
    open_.erase(low_water_);
    ++low_water_;
  }
  first_absent_ = std::max(first_absent_, WorkId{low_water_, 0});
}

std::uint32_t AppliedSet::EpochsBegun() const {
  return open_.empty() ? low_water_ : open_.rbegin()->first + 1;
}

std::uint64_t AppliedSet::size() const {
  std::uint64_t total = std::uint64_t{low_water_} * batches_per_epoch_;
  for (const auto& [number, epoch] : open_) total += epoch.count;
  return total;
}

std::uint64_t AppliedSet::Word(std::uint32_t epoch, std::size_t word) const {
  if (word >= WordsFor(batches_per_epoch_)) return 0;
  if (epoch < low_water_) return ValidBits(batches_per_epoch_, word);
  const auto it = open_.find(epoch);
  return it == open_.end() ? 0 : it->second.bits[word];
}

AppliedSet AppliedSet::Without(const std::vector<WorkId>& work_ids) const {
  AppliedSet rest = *this;
  for (const WorkId work_id : work_ids) {
    if (!rest.Contains(work_id) || work_id.batch >= batches_per_epoch_) continue;
    while (rest.low_water_ > work_id.epoch) {
      Epoch& reopened = rest.open_[--rest.low_water_];
      reopened.count = batches_per_epoch_;
      for (std::size_t w = 0; w < WordsFor(batches_per_epoch_); ++w) {
        reopened.bits.push_back(ValidBits(batches_per_epoch_, w));
      }
    }
    Epoch& epoch = rest.open_[work_id.epoch];
    epoch.bits[work_id.batch / kWordBits] &= ~(std::uint64_t{1} << (work_id.batch % kWordBits));
    rest.first_absent_ = std::min(rest.first_absent_, work_id);
    if (--epoch.count == 0) rest.open_.erase(work_id.epoch);
  }
  return rest;
}

// absent = valid & ~present, word by word; absent & (absent - 1) clears its lowest bit.
std::vector<WorkId> AppliedSet::Missing(std::uint32_t epochs) const {
  std::vector<WorkId> missing;
  for (std::uint32_t epoch = low_water_; epoch < epochs; ++epoch) {
    if (EpochComplete(epoch)) continue;
    for (std::size_t w = 0; w < WordsFor(batches_per_epoch_); ++w) {
      std::uint64_t absent = ~Word(epoch, w) & ValidBits(batches_per_epoch_, w);
      for (; absent != 0; absent &= absent - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(absent));
        missing.push_back({epoch, static_cast<std::uint32_t>(w * kWordBits + bit)});
      }
    }
  }
  return missing;
}

std::string AppliedSet::Serialize() const {
  std::string out;
  out.reserve(16 + open_.size() * (4 + 8 * WordsFor(batches_per_epoch_)));
  Append(kMagic, &out);
  Append(batches_per_epoch_, &out);
  Append(low_water_, &out);
  Append(static_cast<std::uint32_t>(open_.size()), &out);
  for (const auto& [number, epoch] : open_) {
    Append(number, &out);
    for (const std::uint64_t word : epoch.bits) Append(word, &out);
  }
  return out;
}

// Accepts exactly what Serialize writes. A set with a bit too many would make the chief count a
// batch that is not in the values, so anything odd is refused rather than read kindly.
Result<AppliedSet> AppliedSet::Parse(std::string_view bytes) {
  constexpr std::size_t kHeaderBytes = 16;
  if (bytes.size() < kHeaderBytes) return DataLossError("applied set: shorter than its header");
  if (Take<std::uint32_t>(&bytes) != kMagic) return DataLossError("applied set: wrong magic");
  AppliedSet set(Take<std::uint32_t>(&bytes));
  set.low_water_ = Take<std::uint32_t>(&bytes);
  const auto open = Take<std::uint32_t>(&bytes);
  const std::size_t words = WordsFor(set.batches_per_epoch_);
  const std::size_t epoch_bytes = 4 + 8 * words;
  if (bytes.size() / epoch_bytes != open || bytes.size() % epoch_bytes != 0) {
    return DataLossError("applied set: length does not fit its header");
  }
  std::uint64_t at_least = set.low_water_;
  for (std::uint32_t i = 0; i < open; ++i) {
    const auto number = Take<std::uint32_t>(&bytes);
    if (number < at_least) return DataLossError("applied set: epochs out of order");
    if (number >= kMostEpochs) return DataLossError("applied set: an epoch that no run has");
    at_least = std::uint64_t{number} + 1;
    Epoch epoch;
    epoch.bits.resize(words);
    for (std::size_t w = 0; w < words; ++w) {
      epoch.bits[w] = Take<std::uint64_t>(&bytes);
      if ((epoch.bits[w] & ~ValidBits(set.batches_per_epoch_, w)) != 0) {
        return DataLossError("applied set: a batch beyond the end of the epoch");
      }
      epoch.count += static_cast<std::uint64_t>(std::popcount(epoch.bits[w]));
    }
    if (epoch.count == 0) return DataLossError("applied set: an empty open epoch");
    set.open_.emplace(number, std::move(epoch));
  }
  set.first_absent_ = {set.low_water_, 0};
  set.PassPresent();
  return set;
}

}  // namespace pstrain
