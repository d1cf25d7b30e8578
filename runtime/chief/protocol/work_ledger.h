#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/chief/protocol/work_id_set.h"
#include "runtime/requests/ids.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// Which work id is where: in flight (with a worker), applied by some shards, committed (applied by
/// all). The bookkeeping of rules 1, 4, 6 and 7 of ARCHITECTURE.md, "The commit protocol". Owned by
/// CommitProtocol, which decides what counts; one thread at a time.
///
/// Two kinds of bitmaps, one bit for each work id (bit b of word w of an epoch: batch 64 w + b):
///
///   committed_ has the bit    every shard has applied that work id
///   partial_[s] has the bit   shard s has applied it, some other shard has not
///
/// Invariants:
/// - The two are disjoint: no partial_[s] has a bit of committed_. A shard "has" a work id when one
///   of them has the bit. The usual work id is reported by all shards together: one bit in all.
/// - What a shard has is a subset of what its current copy has applied. A bit too few costs a push
///   that is answered as a duplicate; a bit too many would lose an example.
/// - A work id that is neither committed nor in flight is returned, reserved, or at or after the
///   cursor: Grant finds it.
class WorkLedger {
 public:
  /// Uses shards, epochs, batches_per_epoch, records and order.
  explicit WorkLedger(const ProtocolOptions& options);

  /// The shard has a new copy that has applied this set: work ids that it lacks are open again,
  /// also when all shards had them before (rule 7).
  void SetShard(ShardId shard, const AppliedSet& applied);
  /// The shards that are named have the work id. True if that makes it committed; then it is with
  /// no worker any more. Otherwise it is no longer with `worker`, and will be granted again when it
  /// is with no other. REQUIRES: Valid(work id), !Committed(work id).
  bool Report(std::uint32_t worker, WorkId work_id, const std::vector<ShardId>& shards);

  /// Work ids that are neither committed nor with a worker, or that are to be shared; they are with
  /// `worker` afterwards. Shared ones are first, then work ids that came back, then the rest of the
  /// worker's last block, then further blocks, and at the end of the input what is left of the
  /// other workers' blocks.
  std::vector<GrantedWorkId> Grant(std::uint32_t worker, std::size_t want);
  /// The work id is with the worker: granted now, or by a former chief (rule 8). Without effect
  /// for one that is committed.
  void AddInFlight(std::uint32_t worker, WorkId work_id);
  /// The worker has had the work id for too long: another worker may have it too, once for each
  /// call. Without effect for one that is committed or not with that worker.
  void Share(std::uint32_t worker, WorkId work_id);
  /// The work id is no longer with that worker; it is granted again when it is with no other.
  void Return(std::uint32_t worker, WorkId work_id);
  /// As Return for all that is with the worker, and for what is reserved for it (rule 6).
  void ReturnAll(std::uint32_t worker);

  bool Valid(WorkId work_id) const { return work_id.epoch < epochs_ && work_id.batch < batches_; }
  bool Committed(WorkId work_id) const { return committed_.Contains(work_id); }
  bool AllCommitted() const { return committed_count_ == work_ids_expected(); }
  /// Leading epochs of which every batch is committed.
  std::uint32_t CompleteEpochs() const;
  /// Work ids that are with some worker, and with that one.
  std::size_t in_flight() const { return in_flight_.size(); }
  std::size_t in_flight_of(std::uint32_t worker) const;
  /// Records of the work ids that are with some worker.
  std::int64_t examples_in_flight() const { return examples_in_flight_; }
  std::uint64_t work_ids_expected() const { return std::uint64_t{epochs_} * batches_; }
  std::uint64_t work_ids_committed() const { return committed_count_; }
  std::uint64_t work_ids_reopened() const { return reopened_count_; }
  std::int64_t examples_expected() const { return examples_expected_; }
  std::int64_t examples_committed() const { return examples_committed_; }

 private:
  std::uint32_t RecordsOf(std::uint32_t batch) const { return records_ ? records_(batch) : 1; }
  std::int64_t RecordsOf(std::size_t word, std::uint64_t bits) const;
  /// Every shard has the work ids of these bits. REQUIRES: none of them is committed.
  void Commit(std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  /// All shards but `lacking` have the work ids of these bits. REQUIRES: all are committed.
  void Reopen(ShardId lacking, std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  using InFlight = std::unordered_map<WorkId, std::vector<std::uint32_t>>;
  /// Ends being in flight: the work id is with no worker any more.
  void Land(InFlight::iterator work_id);
  std::vector<ShardId> Lacking(WorkId work_id) const;
  bool Grantable(WorkId work_id) const;
  /// The next work id of the grant order, or false at the end.
  bool NextInOrder(WorkId* work_id);
  /// Puts the next block of the grant order aside for the worker; false at the end.
  bool ReserveBlock(std::uint32_t worker);
  /// Work ids of shared_ that the worker does not have.
  void GrantShared(std::uint32_t worker, std::size_t want, std::vector<GrantedWorkId>* grants);
  void Give(std::uint32_t worker, WorkId work_id, std::vector<GrantedWorkId>* grants);
  /// The next work id to be looked at for the worker, or false when there is none.
  bool NextFor(std::uint32_t worker, WorkId* work_id);

  std::uint32_t shards_;
  std::uint32_t epochs_;
  std::uint32_t batches_;
  std::function<std::uint32_t(std::uint32_t)> records_;
  std::function<std::uint32_t(std::uint32_t, std::uint32_t)> order_;
  std::function<std::uint32_t(std::uint32_t)> block_;

  /// See the class comment for what the bits mean.
  WorkIdSet committed_;
  std::vector<WorkIdSet> partial_;
  /// Shards that have had a SetShard. Before that, nothing is known of a shard: nothing may count
  /// as committed until all are known.
  std::vector<bool> known_;
  std::uint32_t known_count_ = 0;
  std::vector<std::uint64_t> committed_in_epoch_;
  std::uint64_t committed_count_ = 0;
  std::uint64_t reopened_count_ = 0;
  std::int64_t examples_expected_ = 0;
  std::int64_t examples_committed_ = 0;

  /// The workers that each work id in flight is with: more than one after a change of chief, when a
  /// worker of the former chief names what that chief had granted, and after Share.
  InFlight in_flight_;
  std::int64_t examples_in_flight_ = 0;
  /// The same by worker.
  std::map<std::uint32_t, std::set<WorkId>> with_worker_;
  std::deque<WorkId> returned_;
  /// In flight, and to be granted once more. May name work ids that have landed since.
  std::deque<WorkId> shared_;
  /// What is left of the block that was put aside for each worker. Only a preference: others take
  /// from it when nothing else is left, and after the cursor went back a work id may be in two.
  std::map<std::uint32_t, std::deque<WorkId>> reserved_;
  /// Position of the grant order up to which every work id is committed, with a worker, returned or
  /// reserved.
  std::uint32_t cursor_epoch_ = 0;
  std::uint32_t cursor_position_ = 0;
};

}  // namespace pstrain
