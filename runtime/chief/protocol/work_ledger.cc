#include "runtime/chief/protocol/work_ledger.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pstrain {
namespace {

/// The lowest work id of these bits. REQUIRES: there is one.
WorkId WorkAt(std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
  return {epoch, static_cast<std::uint32_t>(word * WorkIdSet::kWordBits + bit)};
}

}  // namespace

WorkLedger::WorkLedger(std::uint32_t shards, std::shared_ptr<WorkSource> source)
    : shards_(shards), source_(std::move(source)), partial_(shards), known_(shards, false) {}

// Rule 7: what a restored copy lacks is open again for this shard alone; the other shards answer
// duplicate. Also how a chief learns at its start what each shard has (rule 8).
void WorkLedger::SetShard(ShardId shard, const AppliedSet& applied) {
  if (!known_[shard]) {
    known_[shard] = true;
    ++known_count_;
  }
  WorkIdSet& own = partial_[shard];
  // The start of a fresh run, for each shard: nothing to walk through.
  if (applied.size() == 0 && committed_.empty()) {
    own.Clear();
    return;
  }
  const std::size_t words = (chunk_size() + WorkIdSet::kWordBits - 1) / WorkIdSet::kWordBits;
  for (std::uint32_t epoch = 0; epoch < chunks(); ++epoch) {
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t has = applied.Word(epoch, word);
      const std::uint64_t committed = committed_.Word(epoch, word);
      // Committed, but not in this copy: now all shards have it but this one.
      Reopen(shard, epoch, word, committed & ~has);
      // In this copy, and not committed: exactly that is the shard's partial set, whatever the
      // copy before had.
      std::uint64_t common = has & ~committed;
      own.Remove(epoch, word, ~common);
      own.Add(epoch, word, common);
      if (known_count_ < shards_) continue;
      // What this copy has and no other shard lacks is committed: this copy was the last one.
      for (ShardId s = 0; s < shards_ && common != 0; ++s) common &= partial_[s].Word(epoch, word);
      Commit(epoch, word, common);
    }
  }
}

// Rule 4: a work id is committed with the report after which no shard lacks it.
bool WorkLedger::Report(std::uint32_t worker, WorkId work_id, const std::vector<ShardId>& shards) {
  // The usual report names every shard: then no sparse set is touched.
  std::vector<bool> has(shards_, false);
  for (const ShardId shard : shards) has[shard] = true;
  bool complete = true;
  for (ShardId s = 0; s < shards_ && complete; ++s)
    complete = has[s] || partial_[s].Contains(work_id);
  if (!complete) {
    // Remembered, so that the next grant names only the shards that lack it.
    for (const ShardId shard : shards) partial_[shard].Insert(work_id);
    Return(worker, work_id);
    return false;
  }
  Commit(work_id.epoch, work_id.batch / WorkIdSet::kWordBits,
         std::uint64_t{1} << (work_id.batch % WorkIdSet::kWordBits));
  return true;
}

// Moves the bits from every partial set to the committed set, which keeps the two disjoint. A
// committed work id is in flight nowhere: whoever still works on it will be answered duplicate.
void WorkLedger::Commit(std::uint32_t epoch, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  for (WorkIdSet& own : partial_) own.Remove(epoch, word, bits);
  committed_.Add(epoch, word, bits);
  const auto count = static_cast<std::uint64_t>(std::popcount(bits));
  committed_count_ += count;
  if (committed_in_epoch_.size() <= epoch) committed_in_epoch_.resize(epoch + 1);
  committed_in_epoch_[epoch] += count;
  examples_committed_ += RecordsOf(epoch, word, bits);
  if (in_flight_.empty()) return;
  for (; bits != 0; bits &= bits - 1) {
    const auto it = in_flight_.find(WorkAt(epoch, word, bits));
    if (it == in_flight_.end()) continue;
    for (const std::uint32_t worker : it->second) with_worker_[worker].erase(it->first);
    Land(it);
  }
}

void WorkLedger::Land(InFlight::iterator work_id) {
  examples_in_flight_ -= source_->RecordsOf(work_id->first);
  in_flight_.erase(work_id);
}

// The reverse of Commit, for all shards but one: the bits leave the committed set and enter the
// partial set of every shard that still has them. A re-opened work id may lie anywhere in the grant
// order, so the source begins again; Grant passes over what is committed or in flight.
void WorkLedger::Reopen(ShardId lacking, std::uint32_t epoch, std::size_t word,
                        std::uint64_t bits) {
  if (bits == 0) return;
  committed_.Remove(epoch, word, bits);
  for (ShardId s = 0; s < shards_; ++s) {
    if (s != lacking) partial_[s].Add(epoch, word, bits);
  }
  const auto count = static_cast<std::uint64_t>(std::popcount(bits));
  committed_count_ -= count;
  committed_in_epoch_[epoch] -= count;
  reopened_count_ += count;
  examples_committed_ -= RecordsOf(epoch, word, bits);
  const WorkId lowest = WorkAt(epoch, word, bits);
  low_ = std::min(low_, lowest);
  source_->Rewind(lowest);
}

std::int64_t WorkLedger::RecordsOf(std::uint32_t epoch, std::size_t word,
                                   std::uint64_t bits) const {
  std::int64_t records = 0;
  for (; bits != 0; bits &= bits - 1) records += source_->RecordsOf(WorkAt(epoch, word, bits));
  return records;
}

std::vector<ShardId> WorkLedger::Lacking(WorkId work_id) const {
  std::vector<ShardId> lacking;
  for (ShardId s = 0; s < shards_; ++s) {
    if (!partial_[s].Contains(work_id)) lacking.push_back(s);
  }
  return lacking;
}

bool WorkLedger::Open(WorkId work_id) const {
  return !committed_.Contains(work_id) && !in_flight_.contains(work_id);
}

bool WorkLedger::Whole(std::uint32_t epoch) const {
  return epoch < committed_in_epoch_.size() && committed_in_epoch_[epoch] == chunk_size();
}

// low_ goes up here alone, so that each work id is looked at once between two that are re-opened.
bool WorkLedger::MayBegin(WorkId work_id) {
  const WorkId after = source_->After(work_id);
  while (low_ < after) {
    if (low_.batch == 0 && Whole(low_.epoch)) {
      low_ = {low_.epoch + 1, 0};
    } else if (committed_.Contains(low_)) {
      low_ = low_.batch + 1 == chunk_size() ? WorkId{low_.epoch + 1, 0}
                                            : WorkId{low_.epoch, low_.batch + 1};
    } else {
      return false;
    }
  }
  return true;
}

// Work ids that came back are first, so that the oldest epoch becomes whole and the applied sets
// may forget its batches.
std::optional<WorkId> WorkLedger::NextFor(std::uint32_t worker) {
  if (returned_.empty()) {
    return source_->Next(worker, [this](std::uint32_t chunk) { return Whole(chunk); });
  }
  const WorkId work_id = returned_.front();
  returned_.pop_front();
  return work_id;
}

// Rule 1. Invariant: a work id that is committed is never granted, and one that is in flight only
// once for each Share, whatever the queues say; they may name it twice, because a source that went
// back meets what was reserved. Where there are phases work ids come in order, so that nothing
// behind one that may not begin yet may begin either.
std::vector<GrantedWorkId> WorkLedger::Grant(std::uint32_t worker, std::size_t want) {
  std::vector<GrantedWorkId> grants;
  GrantShared(worker, want, &grants);
  while (grants.size() < want) {
    const std::optional<WorkId> work_id = NextFor(worker);
    if (!work_id) break;
    if (!Open(*work_id)) continue;
    if (!MayBegin(*work_id)) {
      Queue(*work_id);
      break;
    }
    Give(worker, *work_id, &grants);
  }
  return grants;
}

void WorkLedger::Give(std::uint32_t worker, WorkId work_id, std::vector<GrantedWorkId>* grants) {
  std::vector<ShardId> lacking = Lacking(work_id);
  // Empty means all: the usual grant stays small on the wire.
  if (lacking.size() == shards_) lacking.clear();
  AddInFlight(worker, work_id);
  grants->push_back({work_id, std::move(lacking)});
}

// What has landed since is committed, or in returned_.
void WorkLedger::GrantShared(std::uint32_t worker, std::size_t want,
                             std::vector<GrantedWorkId>* grants) {
  std::deque<WorkId> kept;
  for (const WorkId work_id : std::exchange(shared_, {})) {
    const auto it = in_flight_.find(work_id);
    if (it == in_flight_.end()) continue;
    if (grants->size() == want || std::ranges::find(it->second, worker) != it->second.end()) {
      kept.push_back(work_id);
    } else {
      Give(worker, work_id, grants);
    }
  }
  shared_ = std::move(kept);
}

// Rule 6 for a worker that is not lost, but does not get on either: it may hang, or not reach a ps.
// Two workers may then push the same batch: a shard applies the first and answers duplicate to the
// other.
void WorkLedger::Share(std::uint32_t worker, WorkId work_id) {
  const auto own = with_worker_.find(worker);
  if (own == with_worker_.end() || !own->second.contains(work_id)) return;
  shared_.push_back(work_id);
}

void WorkLedger::AddInFlight(std::uint32_t worker, WorkId work_id) {
  if (!Valid(work_id) || committed_.Contains(work_id)) return;
  if (!with_worker_[worker].insert(work_id).second) return;
  std::vector<std::uint32_t>& workers = in_flight_[work_id];
  // Counted once, however many workers have it.
  if (workers.empty()) examples_in_flight_ += source_->RecordsOf(work_id);
  workers.push_back(worker);
}

// Rules 4 and 6. Invariant: a work id that is open and with no worker is in returned_, so it cannot
// be lost.
void WorkLedger::Return(std::uint32_t worker, WorkId work_id) {
  if (!Valid(work_id) || committed_.Contains(work_id)) return;
  if (const auto own = with_worker_.find(worker);
      own != with_worker_.end() && own->second.erase(work_id) > 0) {
    std::erase(in_flight_[work_id], worker);
  }
  if (const auto it = in_flight_.find(work_id); it != in_flight_.end()) {
    if (!it->second.empty()) return;
    Land(it);
  }
  Queue(work_id);
}

void WorkLedger::Queue(WorkId work_id) {
  if (source_->in_id_order()) {
    source_->Rewind(work_id);
  } else {
    returned_.push_back(work_id);
  }
}

// Rule 6: a worker is lost. What it had in flight is older than the rest of its block.
void WorkLedger::ReturnAll(std::uint32_t worker) {
  if (const auto it = with_worker_.find(worker); it != with_worker_.end()) {
    // A copy: Return takes out of it->second.
    const std::set<WorkId> work_ids = it->second;
    for (const WorkId work_id : work_ids) Return(worker, work_id);
    with_worker_.erase(worker);
  }
  for (const WorkId work_id : source_->TakeReserved(worker)) Queue(work_id);
}

std::uint32_t WorkLedger::CompleteEpochs() const {
  std::uint32_t complete = 0;
  while (complete < chunks() && Whole(complete)) ++complete;
  return complete;
}

std::size_t WorkLedger::in_flight_of(std::uint32_t worker) const {
  const auto it = with_worker_.find(worker);
  return it == with_worker_.end() ? 0 : it->second.size();
}

}  // namespace pstrain
