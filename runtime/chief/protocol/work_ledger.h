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
#include "runtime/ids.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// Which work id is where: with a worker, applied by some shards, committed (applied by all). Owned
/// by CommitProtocol, which decides what counts; one thread at a time.
///
/// A shard "has" a work id when it is committed or in the shard's own sparse set, so the usual work
/// id, reported by all shards at once, costs one bit. What a shard has is a lower bound of what its
/// current copy has applied: a work id granted once too often is answered as a duplicate.
class WorkLedger {
 public:
  /// Uses shards, epochs, batches_per_epoch, records and order.
  explicit WorkLedger(const ProtocolOptions& options);

  /// The shard has a new copy with this set: work ids that it lacks are open again, whoever has
  /// them.
  void SetShard(ShardId shard, const AppliedSet& applied);
  /// The shards that are named have the work id. True if that makes it committed; then it is with
  /// no worker any more. Otherwise it is no longer with `worker`, and will be granted again when it
  /// is with no other. REQUIRES: Valid(work id), !Committed(work id).
  bool Report(std::uint32_t worker, WorkId work_id, const std::vector<ShardId>& shards);

  /// WorkIds that are neither committed nor with a worker; they are with `worker` afterwards.
  /// WorkIds that came back are first, then the rest of the worker's last block, then further
  /// blocks, and at the end of the input what is left of the other workers' blocks.
  std::vector<GrantedWorkId> Grant(std::uint32_t worker, std::size_t want);
  /// The worker says that it holds the work id (after a change of chief).
  void Hold(std::uint32_t worker, WorkId work_id);
  void Return(std::uint32_t worker, WorkId work_id);
  void ReturnAll(std::uint32_t worker);

  bool Valid(WorkId work_id) const { return work_id.epoch < epochs_ && work_id.batch < batches_; }
  bool Committed(WorkId work_id) const { return committed_.Contains(work_id); }
  bool AllCommitted() const { return committed_count_ == work_ids_expected(); }
  /// Leading epochs of which every batch is committed.
  std::uint32_t CompleteEpochs() const;
  /// WorkIds with some worker; of one worker.
  std::size_t in_flight() const { return in_flight_.size(); }
  std::size_t held_by(std::uint32_t worker) const;
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
  /// Committed work ids are with nobody.
  void Commit(std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  void Reopen(ShardId lacking, std::uint32_t epoch, std::size_t word, std::uint64_t bits);
  using InFlight = std::unordered_map<WorkId, std::vector<std::uint32_t>>;
  /// The work id is with nobody any more.
  void Land(InFlight::iterator work_id);
  std::vector<ShardId> Lacking(WorkId work_id) const;
  bool Grantable(WorkId work_id) const;
  /// The next work id of the grant order, or false at the end.
  bool NextInOrder(WorkId* work_id);
  /// Puts the next block of the grant order aside for the worker; false at the end.
  bool ReserveBlock(std::uint32_t worker);
  /// The next work id to be looked at for the worker, or false when there is none.
  bool NextFor(std::uint32_t worker, WorkId* work_id);

  std::uint32_t shards_;
  std::uint32_t epochs_;
  std::uint32_t batches_;
  std::function<std::uint32_t(std::uint32_t)> records_;
  std::function<std::uint32_t(std::uint32_t, std::uint32_t)> order_;
  std::function<std::uint32_t(std::uint32_t)> block_;

  WorkIdSet committed_;
  std::vector<WorkIdSet> partial_;
  /// Shards that have had a SetShard.
  std::vector<bool> known_;
  std::uint32_t known_count_ = 0;
  std::vector<std::uint64_t> committed_in_epoch_;
  std::uint64_t committed_count_ = 0;
  std::uint64_t reopened_count_ = 0;
  std::int64_t examples_expected_ = 0;
  std::int64_t examples_committed_ = 0;

  /// More than one worker may hold a work id after a change of chief.
  InFlight in_flight_;
  std::int64_t examples_in_flight_ = 0;
  std::map<std::uint32_t, std::set<WorkId>> held_;
  std::deque<WorkId> returned_;
  /// What is left of the block that was put aside for each worker. Only a preference: others take
  /// from it when nothing else is left, and after the cursor went back a work id may be in two.
  std::map<std::uint32_t, std::deque<WorkId>> reserved_;
  /// Position of the grant order up to which every work id is committed, with a worker, returned or
  /// reserved.
  std::uint32_t cursor_epoch_ = 0;
  std::uint32_t cursor_position_ = 0;
};

}  // namespace pstrain
