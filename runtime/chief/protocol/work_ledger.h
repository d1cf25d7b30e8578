#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/chief/protocol/work_id_set.h"
#include "runtime/chief/protocol/work_source.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/shard_set.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// What has become of the work ids of a WorkSource: in flight (with a worker), applied by some
/// shards, committed (applied by all). The bookkeeping of rules 1, 4, 6 and 7
/// (ARCHITECTURE.md, "The commit protocol"). Owned by CommitProtocol, which decides what counts;
/// one thread at a time.
///
/// Three kinds of bitmaps, one bit for each work id (bit b of word w of a chunk: batch 64 w + b):
///
///   committed_ has the bit    every shard has applied that work id
///   partial_[s] has the bit   shard s has applied it, some other shard has not
///   in_parts_ has the bit     some partial_[s] has it, or has had it
///
/// Invariants:
/// - The first two are disjoint: no partial_[s] has a bit of committed_. A shard "has" a work id
///   when one of them has the bit. The usual work id is reported by all shards together: one bit in
///   all, and the many sets are not looked at, as in_parts_ says that there is nothing.
/// - What a shard has is a subset of what its current copy has applied. A bit too few costs a push
///   that is answered as a duplicate; a bit too many would lose an example.
/// - A work id that is neither committed nor in flight has been returned, or the source still has
///   it: Grant finds it.
/// - What is in flight and overdue with every worker that has it is in shared_, and nothing else.
/// - What is in flight was begun when all ids below its WorkSource::After were committed.
class WorkLedger {
 public:
  WorkLedger(std::uint32_t shards, std::shared_ptr<WorkSource> source);

  /// The shard has a new copy that has applied this set: work ids that it lacks are open again,
  /// also when all shards had them before (rule 7). What the source does not have does not count.
  /// What no shard lacks any more is committed, unless the source wants a report of it.
  /// REQUIRES: applied.batches_per_epoch() == chunk_size().
  void SetShard(ShardId shard, const AppliedSet& applied);
  /// The shards that are named have the work id. True if that makes it committed; then it is with
  /// no worker any more. Otherwise it is no longer with `worker`, and will be granted again when it
  /// is with no other. REQUIRES: Valid(work id), !Committed(work id), a set of all shards.
  bool Report(std::uint32_t worker, WorkId work_id, const ShardSet& shards);

  /// Work ids that are neither committed nor with a worker, or that are to be shared; they are with
  /// `worker` afterwards. Shared ones are first, then work ids that came back, then those that the
  /// source has for the worker. None whose WorkSource::After still has to wait.
  std::vector<GrantedWorkId> Grant(std::uint32_t worker, std::size_t want);
  /// The work id is with the worker: granted now, or by a former chief (rule 8). Without effect
  /// for one that is committed.
  void AddInFlight(std::uint32_t worker, WorkId work_id);
  /// The work id is overdue with the worker. While it is so with all who have it, the next worker
  /// that asks gets it too. Without effect for one that is committed or not with that worker.
  void Share(std::uint32_t worker, WorkId work_id);
  /// The work id is no longer with that worker; it is granted again when it is with no other, or
  /// overdue with all of them.
  void Return(std::uint32_t worker, WorkId work_id);
  /// As Return for all that is with the worker, and for what is reserved for it (rule 6).
  void ReturnAll(std::uint32_t worker);
  /// What is kept for the worker is so while it is registered (WorkSource).
  void SetRegistered(std::uint32_t worker, bool registered);

  /// The run ends early (EarlyEnd): WorkSource::EndEarly and CloseEnd.
  void EndEarly(const AppliedSet& granted) { source_->EndEarly(granted); }
  void CloseEnd() { source_->CloseEnd(); }
  /// It has been granted, whoever says so (WorkSource::Adopt). Any number will do.
  void Adopt(WorkId work_id) {
    if (work_id.batch >= chunk_size()) return;
    source_->Adopt(work_id.epoch, work_id.batch / WorkIdSet::kWordBits,
                   std::uint64_t{1} << (work_id.batch % WorkIdSet::kWordBits));
  }
  void Adopt(std::uint32_t chunk, const AppliedSet& applied) {
    for (std::size_t word = 0; word * WorkIdSet::kWordBits < chunk_size(); ++word) {
      source_->Adopt(chunk, word, applied.Word(chunk, word));
    }
  }
  /// Those that were with a worker, or kept for one, and came back.
  const std::deque<WorkId>& returned() const { return returned_; }

  bool Valid(WorkId work_id) const { return source_->Contains(work_id); }
  bool Committed(WorkId work_id) const { return committed_.Contains(work_id); }
  /// It is a program's work, not a batch of the input.
  bool OfProgram(WorkId work_id) const { return Valid(work_id) && source_->KindOf(work_id) != 0; }
  /// As WorkSource, both. REQUIRES: Valid(work_id).
  bool MayDiffer(WorkId work_id) const { return source_->MayDiffer(work_id); }
  std::optional<ProtocolTime> DeadlineOf(WorkId work_id, ProtocolTime usual) const {
    return source_->DeadlineOf(work_id, usual);
  }
  /// Others have to be committed before it begins. REQUIRES: Valid(work_id).
  bool Waits(WorkId work_id) const { return source_->After(work_id) != WorkId{}; }
  /// All that has to be committed before is. REQUIRES: Valid(work_id).
  bool MayBegin(WorkId work_id);
  /// Every work id below is committed. REQUIRES: they exist.
  bool CommittedBelow(WorkId after);
  bool AllCommitted() const { return committed_count_ == work_ids_expected(); }
  /// The same, and nothing will be added any more.
  bool Done() const { return AllCommitted() && source_->closed(); }
  /// Every work id with a number below this is committed.
  std::uint64_t LeadingCommitted();
  // As WorkSource, all three.
  void Forget(std::uint64_t number) { source_->Forget(number); }
  std::uint64_t forgotten() const { return source_->forgotten(); }
  std::size_t KeptBelow(std::uint64_t number) const { return source_->KeptBelow(number); }
  WorkId IdOf(std::uint64_t number) const {
    return {static_cast<std::uint32_t>(number / chunk_size()),
            static_cast<std::uint32_t>(number % chunk_size())};
  }
  /// A worker has it, or a shard, as far as is known. REQUIRES: Valid(work_id).
  bool Begun(WorkId work_id) const { return !Open(work_id) || in_parts_.Contains(work_id); }
  /// Work ids that Grant may have for any worker that has nothing: neither committed nor in flight,
  /// or to be shared. Once Grant has met one that has to wait, what waits is counted no more.
  std::uint64_t open();
  /// Grant has a work id for the worker that is kept for it: open does not count that.
  bool OpenFor(std::uint32_t worker);
  /// Leading chunks, of an input epochs, of which every work id is committed.
  std::uint32_t CompleteChunks() const;
  /// Work ids that are with some worker, and with that one.
  std::size_t in_flight() const { return in_flight_.size(); }
  std::size_t in_flight_of(std::uint32_t worker) const;
  /// Records of the work ids that are with some worker.
  std::int64_t examples_in_flight() const { return examples_in_flight_; }
  std::uint32_t chunk_size() const { return source_->chunk_size(); }
  std::uint32_t chunks() const { return source_->chunks(); }
  std::uint64_t work_ids_expected() const { return source_->wanted(); }
  std::uint64_t work_ids_committed() const { return committed_count_; }
  std::uint64_t work_ids_reopened() const { return reopened_count_; }
  std::int64_t examples_expected() const { return source_->records(); }
  std::int64_t examples_committed() const { return examples_committed_; }

 private:
  std::int64_t RecordsOf(std::uint32_t chunk, std::size_t word, std::uint64_t bits) const;
  /// The bits of a word that stand for work ids of the source.
  std::uint64_t Existing(std::uint32_t chunk, std::size_t word) const;
  /// Those of work ids with a number below `end`.
  std::uint64_t Below(std::uint64_t end, std::uint32_t chunk, std::size_t word) const;
  /// Every shard has the work ids of these bits. REQUIRES: none of them is committed.
  void Commit(std::uint32_t chunk, std::size_t word, std::uint64_t bits);
  /// All shards but `lacking` have the work ids of these bits. REQUIRES: all are committed.
  void Reopen(ShardId lacking, std::uint32_t chunk, std::size_t word, std::uint64_t bits);
  struct InFlightWith {
    std::uint32_t worker = 0;
    bool overdue = false;
  };
  using InFlight = std::unordered_map<WorkId, std::vector<InFlightWith>>;
  void ShareIfOverdue(InFlight::const_iterator work_id);
  /// Ends being in flight: the work id is with no worker any more.
  void Land(InFlight::iterator work_id);
  std::vector<ShardId> Lacking(WorkId work_id) const;
  bool Open(WorkId work_id) const;
  bool Whole(std::uint32_t chunk) const;
  /// It is open, and the next worker that asks is to get it.
  void Queue(WorkId work_id);
  /// Work ids of shared_ that the worker does not have; they are shared no more.
  void GrantShared(std::uint32_t worker, std::size_t want, std::vector<GrantedWorkId>* grants);
  void Give(std::uint32_t worker, WorkId work_id, std::vector<GrantedWorkId>* grants);
  /// The next work id to be looked at for the worker; nothing at the end.
  std::optional<WorkId> NextFor(std::uint32_t worker);

  const std::uint32_t shards_;
  const std::shared_ptr<WorkSource> source_;

  /// See the class comment for what the bits mean.
  WorkIdSet committed_;
  std::vector<WorkIdSet> partial_;
  WorkIdSet in_parts_;
  /// Shards that have had a SetShard. Before that, nothing is known of a shard: nothing may count
  /// as committed until all are known.
  std::vector<bool> known_;
  std::uint32_t known_count_ = 0;
  /// By chunk; grows with the source.
  std::vector<std::uint64_t> committed_in_chunk_;
  /// All work ids below are committed; perhaps more.
  WorkId low_;
  std::uint64_t committed_count_ = 0;
  std::uint64_t reopened_count_ = 0;
  std::int64_t examples_committed_ = 0;

  /// The workers that each work id in flight is with: more than one after a change of chief, when a
  /// worker of the former chief names what that chief had granted, and after Share.
  InFlight in_flight_;
  std::int64_t examples_in_flight_ = 0;
  /// The same by worker.
  std::map<std::uint32_t, std::set<WorkId>> with_worker_;
  /// Unless the source has a place for them.
  std::deque<WorkId> returned_;
  /// In flight, and to be granted to one more worker.
  std::set<WorkId> shared_;
  /// All that anybody may have was behind it when Grant met it, and it had to wait.
  std::optional<WorkId> waits_;
};

}  // namespace pstrain
