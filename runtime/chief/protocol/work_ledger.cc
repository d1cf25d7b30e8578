#include "runtime/chief/protocol/work_ledger.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pstrain {
namespace {

/// The lowest work id of these bits: the reverse of what a word's bits stand for (WorkLedger). No
/// rule: a change of form. REQUIRES: there is one.
WorkId WorkAt(std::uint32_t chunk, std::size_t word, std::uint64_t bits) {
  const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
  return {chunk, static_cast<std::uint32_t>(word * WorkIdSet::kWordBits + bit)};
}

}  // namespace

// Rule 8. Invariant: no shard is known. A ledger begins with the belief that nobody has anything,
// and counts nothing as committed before each shard has said what its copy has (SetShard).
WorkLedger::WorkLedger(std::uint32_t shards, std::shared_ptr<WorkSource> source)
    : shards_(shards), source_(std::move(source)), partial_(shards), known_(shards, false) {}

// Rule 7: what a restored copy lacks is open again for this shard alone; the other shards answer
// duplicate. Also how a chief learns at its start what each shard has (rule 8). Invariant:
// afterwards the shard has exactly what its copy has applied; nothing is committed while a shard is
// unknown, nor what its source wants a report of.
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
  for (std::uint32_t chunk = 0; chunk < chunks(); ++chunk) {
    for (std::size_t word = 0; word < words; ++word) {
      source_->Adopt(chunk, word, applied.Word(chunk, word));
      const std::uint64_t has = applied.Word(chunk, word) & Existing(chunk, word);
      const std::uint64_t committed = committed_.Word(chunk, word);
      // Committed, but not in this copy: now all shards have it but this one.
      Reopen(shard, chunk, word, committed & ~has);
      // In this copy, and not committed: exactly that is the shard's partial set, whatever the
      // copy before had.
      std::uint64_t common = has & ~committed;
      own.Remove(chunk, word, ~common);
      own.Add(chunk, word, common);
      in_parts_.Add(chunk, word, common);
      if (known_count_ < shards_) continue;
      common &= Below(source_->by_report_from(), chunk, word);
      // What this copy has and no other shard lacks is committed: this copy was the last one.
      for (ShardId s = 0; s < shards_ && common != 0; ++s) common &= partial_[s].Word(chunk, word);
      Commit(chunk, word, common);
    }
  }
}

// Rule 7. The last chunk may have fewer work ids than a set has places for, and a run that ends
// early has not all. Invariant: no bit
// enters the ledger that stands for no work id; it would be counted as committed, and never be
// granted.
std::uint64_t WorkLedger::Existing(std::uint32_t chunk, std::size_t word) const {
  return Below(source_->work_ids(), chunk, word) & source_->Wanted(chunk, word);
}

// Invariant: a bit of a word and a number stand for the same work id.
std::uint64_t WorkLedger::Below(std::uint64_t end, std::uint32_t chunk, std::size_t word) const {
  const std::uint64_t first =
      source_->Number({chunk, static_cast<std::uint32_t>(word * WorkIdSet::kWordBits)});
  if (first >= end) return 0;
  const std::uint64_t rest = end - first;
  return rest >= WorkIdSet::kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
}

// Rule 4. Invariant: a work id is committed with the report after which no shard lacks it, and not
// before.
bool WorkLedger::Report(std::uint32_t worker, WorkId work_id, const ShardSet& shards) {
  // The usual report names every shard: then no sparse set is touched.
  bool complete = shards.full();
  if (!complete && in_parts_.Contains(work_id)) {
    complete = true;
    for (ShardId s = 0; s < shards_ && complete; ++s)
      complete = shards.Contains(s) || partial_[s].Contains(work_id);
  }
  if (!complete) {
    // Remembered, so that the next grant names only the shards that lack it.
    shards.ForEach([&](ShardId s) { partial_[s].Insert(work_id); });
    if (!shards.empty()) in_parts_.Insert(work_id);
    Return(worker, work_id);
    return false;
  }
  Commit(work_id.epoch, work_id.batch / WorkIdSet::kWordBits,
         std::uint64_t{1} << (work_id.batch % WorkIdSet::kWordBits));
  return true;
}

// Rules 4 and 8: moves the bits from every partial set to the committed set. Invariant: the two
// stay disjoint, and a committed work id is in flight nowhere: whoever still works on it will be
// answered duplicate.
void WorkLedger::Commit(std::uint32_t chunk, std::size_t word, std::uint64_t bits) {
  if (bits == 0) return;
  if ((in_parts_.Word(chunk, word) & bits) != 0) {
    for (WorkIdSet& own : partial_) own.Remove(chunk, word, bits);
    in_parts_.Remove(chunk, word, bits);
  }
  committed_.Add(chunk, word, bits);
  const auto count = static_cast<std::uint64_t>(std::popcount(bits));
  committed_count_ += count;
  if (committed_in_chunk_.size() <= chunk) committed_in_chunk_.resize(chunk + 1);
  committed_in_chunk_[chunk] += count;
  examples_committed_ += RecordsOf(chunk, word, bits);
  for (; bits != 0; bits &= bits - 1) {
    const WorkId work_id = WorkAt(chunk, word, bits);
    source_->Taken(work_id);
    const auto it = in_flight_.find(work_id);
    if (it == in_flight_.end()) continue;
    for (const InFlightWith& with : it->second) with_worker_[with.worker].erase(it->first);
    Land(it);
  }
}

// Rules 4 and 6. Invariant: examples_in_flight_ are the records of what is in in_flight_, each work
// id once. with_worker_ is the caller's to clear.
void WorkLedger::Land(InFlight::iterator work_id) {
  examples_in_flight_ -= source_->RecordsOf(work_id->first);
  shared_.erase(work_id->first);
  in_flight_.erase(work_id);
}

// Rules 4, 7 and 12, the reverse of Commit for all shards but one: the bits leave the committed set
// and enter the partial set of every shard that still has them. Invariant: Grant finds what is
// open. A re-opened work id may lie anywhere in the grant order, so the source begins again; Grant
// passes over what is committed or in flight.
void WorkLedger::Reopen(ShardId lacking, std::uint32_t chunk, std::size_t word,
                        std::uint64_t bits) {
  if (bits == 0) return;
  committed_.Remove(chunk, word, bits);
  in_parts_.Add(chunk, word, bits);
  for (ShardId s = 0; s < shards_; ++s) {
    if (s != lacking) partial_[s].Add(chunk, word, bits);
  }
  const auto count = static_cast<std::uint64_t>(std::popcount(bits));
  committed_count_ -= count;
  committed_in_chunk_[chunk] -= count;
  reopened_count_ += count;
  examples_committed_ -= RecordsOf(chunk, word, bits);
  low_ = std::min(low_, WorkAt(chunk, word, bits));
  waits_.reset();
  for (; bits != 0; bits &= bits - 1) source_->Rewind(WorkAt(chunk, word, bits));
}

// Rule 4. Invariant: Commit adds and Reopen subtracts the same number for the same bits, so
// examples_committed_ are the records of what is in committed_, and nothing else.
std::int64_t WorkLedger::RecordsOf(std::uint32_t chunk, std::size_t word,
                                   std::uint64_t bits) const {
  std::int64_t records = 0;
  for (; bits != 0; bits &= bits - 1) records += source_->RecordsOf(WorkAt(chunk, word, bits));
  return records;
}

// Rules 1 and 4: the shards that a grant names. REQUIRES: the work id is not committed; of one that
// is, no partial set has the bit. Invariant: empty only where a report alone commits, as Commit
// takes any other work id over with the last shard.
std::vector<ShardId> WorkLedger::Lacking(WorkId work_id) const {
  std::vector<ShardId> lacking;
  for (ShardId s = 0; s < shards_; ++s) {
    if (!partial_[s].Contains(work_id)) lacking.push_back(s);
  }
  return lacking;
}

// Rule 1: it may be granted. Invariant: a work id is committed, in flight or open, and only one of
// the three.
bool WorkLedger::Open(WorkId work_id) const {
  return !committed_.Contains(work_id) && !in_flight_.contains(work_id);
}

// Rules 1 and 5. Invariant: counted in Commit and Reopen, not looked up. A chunk that is not full
// is never whole, because work may still be added to it.
bool WorkLedger::Whole(std::uint32_t chunk) const {
  return chunk < committed_in_chunk_.size() && committed_in_chunk_[chunk] == chunk_size();
}

// Rule 1, phases. Invariant: what has an id and what has none of an earlier phase has ended.
bool WorkLedger::MayBegin(WorkId work_id) {
  return source_->Number(work_id) < source_->held_from() && CommittedBelow(source_->After(work_id));
}

// Rule 1, phases. Invariant: all below low_ is committed. It goes up here alone and down only when
// one below is re-opened, so that no work id is looked at again with every grant.
bool WorkLedger::CommittedBelow(WorkId after) {
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

// Rule 5. Invariant: a checkpoint that is started now has all below, since every shard's copy has.
std::uint64_t WorkLedger::LeadingCommitted() {
  static_cast<void>(CommittedBelow({chunks(), 0}));
  return std::min(source_->Number(low_), work_ids_expected());
}

// Rule 1, for callers that wait for work. Invariant: never below what Grant would give to a worker
// that has nothing and for which nothing is kept; while one work id has to wait, all that is behind
// it has to wait too (Grant), but for what another worker may have.
std::uint64_t WorkLedger::open() {
  if (waits_ && !MayBegin(*waits_)) return shared_.size() + source_->aside();
  return work_ids_expected() - committed_count_ - in_flight_.size() - source_->kept() +
         shared_.size();
}

// Rule 1, the same for the worker that the rest is kept for. Invariant: what Grant meets before it
// may begin too, as it is of its phase or an earlier one.
bool WorkLedger::OpenFor(std::uint32_t worker) {
  const std::optional<WorkId> kept = source_->KeptFor(worker);
  return kept && MayBegin(*kept);
}

// Rule 1. Work ids that came back are first, so that the oldest chunk becomes whole and the applied
// sets may forget its batches (rule 5). Invariant: every work id that is open comes from here
// before the end is reached: it was queued (Queue), or the source has not named it since its last
// Rewind.
std::optional<WorkId> WorkLedger::NextFor(std::uint32_t worker) {
  if (returned_.empty()) {
    return source_->Next(worker, [this](std::uint32_t chunk) { return Whole(chunk); });
  }
  const WorkId work_id = returned_.front();
  returned_.pop_front();
  return work_id;
}

// Rule 1. Invariant: a work id that is committed is never granted, and one that is in flight only
// while it is overdue with all who have it, whatever the queues say; they may name it twice,
// because a source that went back meets what was reserved. Where there are phases work ids come in
// their order, so that nothing behind one that may not begin yet may begin either.
std::vector<GrantedWorkId> WorkLedger::Grant(std::uint32_t worker, std::size_t want) {
  std::vector<GrantedWorkId> grants;
  GrantShared(worker, want, &grants);
  while (grants.size() < want) {
    const std::optional<WorkId> work_id = NextFor(worker);
    if (!work_id) break;
    if (!Valid(*work_id) || !Open(*work_id)) continue;
    if (!MayBegin(*work_id)) {
      Queue(*work_id);
      waits_ = work_id;
      break;
    }
    Give(worker, *work_id, &grants);
  }
  return grants;
}

// Rule 1. Invariant: a grant names all shards that lack the work id, or all, so its report can
// commit it. The current copies of the others have it.
void WorkLedger::Give(std::uint32_t worker, WorkId work_id, std::vector<GrantedWorkId>* grants) {
  // Empty means all: the usual grant stays small on the wire.
  std::vector<ShardId> lacking;
  if (in_parts_.Contains(work_id)) lacking = Lacking(work_id);
  if (lacking.size() == shards_) lacking.clear();
  AddInFlight(worker, work_id);
  grants->push_back(
      {work_id, std::move(lacking), source_->ContentOf(work_id), source_->After(work_id)});
}

// Rule 6. Invariant: a work id that is shared goes to one more worker, never to one that has it.
// Give takes it out until it is overdue with that worker too.
void WorkLedger::GrantShared(std::uint32_t worker, std::size_t want,
                             std::vector<GrantedWorkId>* grants) {
  for (auto next = shared_.begin(); next != shared_.end() && grants->size() < want;) {
    const WorkId work_id = *next++;
    const bool has = std::ranges::count(in_flight_.at(work_id), worker, &InFlightWith::worker) > 0;
    if (!has && MayBegin(work_id)) Give(worker, work_id, grants);
  }
}

// Rule 6 for a worker that is not lost, but does not get on either: it may hang, or not reach a ps.
// Two workers may then push the same batch: a shard applies the first and answers duplicate to the
// other. Invariant: only what is with that worker is shared.
void WorkLedger::Share(std::uint32_t worker, WorkId work_id) {
  const auto it = in_flight_.find(work_id);
  if (it == in_flight_.end()) return;
  const auto own = std::ranges::find(it->second, worker, &InFlightWith::worker);
  if (own == it->second.end()) return;
  own->overdue = true;
  ShareIfOverdue(it);
}

// Rule 6. The worker that it was shared with may be lost, hang too, not have heard of it, or have
// met a shard that lost it since: the worker that had it first is still overdue. Invariant: what is
// in flight is in shared_ exactly while it is overdue with every worker that has it.
void WorkLedger::ShareIfOverdue(InFlight::const_iterator work_id) {
  if (std::ranges::all_of(work_id->second, &InFlightWith::overdue)) shared_.insert(work_id->first);
}

// Rules 1, 8 and 12. Invariant: in_flight_ and with_worker_ say the same, nothing that is committed
// is in them, and all of it is wanted.
void WorkLedger::AddInFlight(std::uint32_t worker, WorkId work_id) {
  Adopt(work_id);
  if (!Valid(work_id) || committed_.Contains(work_id)) return;
  if (!with_worker_[worker].insert(work_id).second) return;
  std::vector<InFlightWith>& with = in_flight_[work_id];
  // Counted once, however many workers have it.
  if (with.empty()) {
    examples_in_flight_ += source_->RecordsOf(work_id);
    source_->Taken(work_id);
  }
  with.push_back({worker, false});
  shared_.erase(work_id);
}

// Rules 4 and 6. Invariant: a work id that is open and with no worker is where Grant looks (Queue),
// so it cannot be lost.
void WorkLedger::Return(std::uint32_t worker, WorkId work_id) {
  if (!Valid(work_id) || committed_.Contains(work_id)) return;
  if (const auto own = with_worker_.find(worker);
      own != with_worker_.end() && own->second.erase(work_id) > 0) {
    std::erase_if(in_flight_[work_id],
                  [worker](const InFlightWith& with) { return with.worker == worker; });
  }
  if (const auto it = in_flight_.find(work_id); it != in_flight_.end()) {
    if (!it->second.empty()) return ShareIfOverdue(it);
    Land(it);
  }
  Queue(work_id);
}

// Rules 1 and 6. Invariant: NextFor comes to it: in its place where the source has one, else before
// all that the source has. It may begin though what waited may not.
void WorkLedger::Queue(WorkId work_id) {
  waits_.reset();
  if (source_->in_phase_order()) {
    source_->Rewind(work_id);
  } else {
    returned_.push_back(work_id);
  }
}

// Rule 6: a worker is lost. What it had in flight is older than the rest of its block. Invariant:
// nothing is with, or reserved for, a worker that is lost.
void WorkLedger::ReturnAll(std::uint32_t worker) {
  if (const auto it = with_worker_.find(worker); it != with_worker_.end()) {
    // A copy: Return takes out of it->second.
    const std::set<WorkId> work_ids = it->second;
    for (const WorkId work_id : work_ids) Return(worker, work_id);
    with_worker_.erase(worker);
  }
  for (const WorkId work_id : source_->TakeReserved(worker)) Queue(work_id);
}

// Rules 1 and 6. Invariant: what was kept for a worker that is lost may begin elsewhere, though
// what another one met has to wait.
void WorkLedger::SetRegistered(std::uint32_t worker, bool registered) {
  waits_.reset();
  source_->SetRegistered(worker, registered);
}

// Rule 5: a checkpoint that has these may close them. Invariant: counted from the first one without
// a gap, so every work id of a chunk below the number is committed.
std::uint32_t WorkLedger::CompleteChunks() const {
  std::uint32_t complete = 0;
  while (complete < chunks() && Whole(complete)) ++complete;
  return complete;
}

// Rule 2: the number that bounds how stale a worker's gradient can be. Invariant: with_worker_ has
// no work id that is committed, so a finished one never counts against the window.
std::size_t WorkLedger::in_flight_of(std::uint32_t worker) const {
  const auto it = with_worker_.find(worker);
  return it == with_worker_.end() ? 0 : it->second.size();
}

}  // namespace pstrain
