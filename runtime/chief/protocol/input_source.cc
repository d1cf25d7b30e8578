#include "runtime/chief/protocol/input_source.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pstrain {

// Rule 1. Invariant: every epoch has the same batches, so the records of one epoch say those of
// all.
InputSource::InputSource(InputWork input) : input_(std::move(input)) {
  std::int64_t per_epoch = 0;
  for (std::uint32_t batch = 0; batch < input_.batches_per_epoch; ++batch) {
    per_epoch += RecordsOf({0, batch});
  }
  records_ = per_epoch * input_.epochs;
}

// Rule 12. Invariant: depends on the batch alone, not on the epoch or on who computes it. Without
// an index (tests) each batch is one record.
std::uint32_t InputSource::RecordsOf(WorkId work_id) const {
  return input_.records ? input_.records(work_id.batch) : 1;
}

// Rule 1: the order of an epoch. Invariant: a permutation of the epoch's batches, the same for
// every chief, so that each batch comes at one position, and no position has to be kept on disk.
std::uint32_t InputSource::BatchAt(std::uint32_t epoch, std::uint32_t position) const {
  return input_.order ? input_.order(epoch, position) : position;
}

// Rule 1. Invariant: what is passed over unseen is committed. Epochs that are whole are passed over
// in one step: after a restart each of their batches would be looked at.
std::optional<WorkId> InputSource::NextInOrder(const Whole& whole) {
  while (epoch_ < input_.epochs) {
    if (position_ == input_.batches_per_epoch || whole(epoch_)) {
      ++epoch_;
      position_ = 0;
      continue;
    }
    const WorkId work_id{epoch_, BatchAt(epoch_, position_++)};
    if (Contains(work_id)) return work_id;
  }
  return std::nullopt;
}

// Rule 1: the batches of a block go to one worker, which then reads the block from its file once.
// Invariant: each position of the order is reserved at most once until Rewind.
bool InputSource::ReserveBlock(std::uint32_t worker, const Whole& whole) {
  const std::optional<WorkId> first = NextInOrder(whole);
  if (!first) return false;
  std::deque<WorkId>& reserved = reserved_[worker];
  reserved.push_back(*first);
  if (!input_.block) return true;
  const std::uint32_t block = input_.block(first->batch);
  while (position_ < input_.batches_per_epoch) {
    const std::uint32_t batch = BatchAt(first->epoch, position_);
    if (input_.block(batch) != block) break;
    reserved.push_back({first->epoch, batch});
    ++position_;
  }
  return true;
}

// Rule 1: a worker's own block, then the next one, then what is left of the longest of the others'.
// Invariant: nothing stays reserved for a slow worker while another has nothing to do.
std::optional<WorkId> InputSource::Next(std::uint32_t worker, const Whole& whole) {
  if (std::deque<WorkId>& own = reserved_[worker]; !own.empty() || ReserveBlock(worker, whole)) {
    const WorkId work_id = own.front();
    own.pop_front();
    return work_id;
  }
  const auto richest = std::ranges::max_element(
      reserved_, {}, [](const auto& entry) { return entry.second.size(); });
  if (richest->second.empty()) return std::nullopt;
  // From the end that its own worker reaches last.
  const WorkId work_id = richest->second.back();
  richest->second.pop_back();
  return work_id;
}

// Rule 6. Invariant: what was reserved for a lost worker is the caller's now, and nobody else's.
std::vector<WorkId> InputSource::TakeReserved(std::uint32_t worker) {
  const auto reserved = reserved_.extract(worker);
  if (!reserved) return {};
  return {reserved.mapped().begin(), reserved.mapped().end()};
}

// Rule 7. The position of a batch in the order is not known (InputWork::order goes the other way),
// so the order begins again. Invariant: what is open is ahead of the position or reserved; what is
// not open comes once more, and the ledger passes over it (WorkLedger::Grant).
void InputSource::Rewind(WorkId /*work_id*/) {
  epoch_ = 0;
  position_ = 0;
}

// Rule 12, an early end. Invariant: records_ are those of wanted_, each work id once. A set of a
// time when the job had more epochs names none beyond those that it has now.
void InputSource::EndEarly(const AppliedSet& granted) {
  ends_early_ = true;
  end_closed_ = false;
  records_ = 0;
  wanted_.Clear();
  wanted_count_ = 0;
  const std::size_t words =
      (input_.batches_per_epoch + WorkIdSet::kWordBits - 1) / WorkIdSet::kWordBits;
  for (std::uint32_t epoch = 0; epoch < input_.epochs; ++epoch) {
    for (std::size_t word = 0; word < words; ++word) Want(epoch, word, granted.Word(epoch, word));
  }
  Rewind({});
}

// Rules 7, 8 and 12: a shard has applied it, or a worker has it, so somebody has granted it.
// Invariant: what some shard has is wanted of all of them, or the shards would go apart; until the
// final checkpoint is in place, which holds for all.
void InputSource::Adopt(std::uint32_t chunk, std::size_t word, std::uint64_t bits) {
  if (!ends_early_ || end_closed_ || chunk >= input_.epochs) return;
  const std::uint64_t fresh = bits & ~wanted_.Word(chunk, word);
  if (fresh == 0) return;
  Want(chunk, word, fresh);
  Rewind({});
}

// Rule 12. Invariant: none of the bits is beyond the epoch's end, as sets have none there.
void InputSource::Want(std::uint32_t chunk, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  wanted_.Add(chunk, word, bits);
  for (; bits != 0; bits &= bits - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
    ++wanted_count_;
    records_ += RecordsOf({chunk, static_cast<std::uint32_t>(word * WorkIdSet::kWordBits + bit)});
  }
}

}  // namespace pstrain
