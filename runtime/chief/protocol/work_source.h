#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/requests/ids.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// What there is to do, how much of it there is, and in which order it is begun. WorkLedger keeps
/// what became of it, and asks here only for work ids that nobody has had yet; so a source need not
/// know what is committed. Work ids lie in chunks (WorkId::epoch) of equal size: of an input a
/// chunk is an epoch. Owner: WorkLedger; one thread at a time.
class WorkSource {
 public:
  /// Whether every work id of a chunk is committed.
  using Whole = std::function<bool(std::uint32_t chunk)>;

  virtual ~WorkSource() = default;

  /// Work ids of a chunk (WorkId::batch is below it). Never changes.
  virtual std::uint32_t chunk_size() const = 0;
  /// Chunks, work ids and records so far. May grow, never shrink, but for the records of a run that
  /// ends early; work ids are numbered without gaps, so that only the last chunk may have less than
  /// chunk_size.
  virtual std::uint32_t chunks() const = 0;
  virtual std::uint64_t work_ids() const = 0;
  virtual std::int64_t records() const = 0;
  /// How many of the work ids are to be done: all of them, unless the run ends early.
  virtual std::uint64_t wanted() const { return work_ids(); }
  /// Which of these: bits as AppliedSet::Word. Called often; cheap.
  virtual std::uint64_t Wanted(std::uint32_t /*chunk*/, std::size_t /*word*/) const {
    return ~std::uint64_t{0};
  }
  /// The run ends early (EarlyEnd): from here on these alone are wanted, records() is of them, and
  /// Next has no other. Of an input.
  virtual void EndEarly(const AppliedSet& /*granted*/) {}
  /// These are wanted too, where the run ends early: they turn out to have been granted.
  virtual void Adopt(std::uint32_t /*chunk*/, std::size_t /*word*/, std::uint64_t /*bits*/) {}
  /// Nothing is adopted any more.
  virtual void CloseEnd() {}
  /// Nothing will be added any more.
  virtual bool closed() const { return true; }
  /// Called often; cheap. REQUIRES: the work id exists.
  virtual std::uint32_t RecordsOf(WorkId work_id) const = 0;
  /// The work id is not to be begun before every one below this is committed; {0, 0}: it may be
  /// begun at any time. REQUIRES: the work id exists.
  virtual WorkId After(WorkId /*work_id*/) const { return {}; }
  /// What has this number or a higher one is not to be begun now, whatever is committed: work
  /// without an id of an earlier phase has not ended.
  virtual std::uint64_t held_from() const { return ~std::uint64_t{0}; }
  /// REQUIRES: the work id exists.
  virtual WorkContent ContentOf(WorkId /*work_id*/) const { return {}; }
  /// As in ContentOf. Called often; cheap. REQUIRES: the work id exists.
  virtual std::uint32_t KindOf(WorkId /*work_id*/) const { return 0; }
  /// Shards may go apart on it for ever: some have left it out, others have what it changes.
  /// REQUIRES: the work id exists.
  virtual bool MayDiffer(WorkId /*work_id*/) const { return false; }
  /// For how long a worker may have the work id and commit nothing before another one is granted it
  /// too; nothing: for as long as it likes. `usual`: the chief's own answer, which is right for
  /// batches of an input. Called often; cheap. REQUIRES: the work id exists.
  virtual std::optional<ProtocolTime> DeadlineOf(WorkId /*work_id*/, ProtocolTime usual) const {
    return usual;
  }
  /// From this number on a work id is committed by a report alone, since that brings what came of
  /// it; below also by the copies of all shards, when the last one turns out to have it. What all
  /// copies have is granted once more: each shard answers duplicate, and the report says the rest.
  virtual std::uint64_t by_report_from() const { return ~std::uint64_t{0}; }
  /// Next has a place for work that came back: Rewind is enough. And what it names for a worker
  /// after a work id that has to wait (After) has to wait too.
  virtual bool in_phase_order() const { return false; }

  /// The next work id in the order, for this worker: each comes once until Rewind, also one that is
  /// committed meanwhile; chunks that are whole may be passed over. Nothing at the end, or when all
  /// that is left is kept for others.
  virtual std::optional<WorkId> Next(std::uint32_t worker, const Whole& whole) = 0;
  /// The worker is lost: what was put aside for it, in order. Comes by Next no more.
  virtual std::vector<WorkId> TakeReserved(std::uint32_t worker) = 0;
  /// That work id is open again, and Next will come to it. Others may come once more too.
  virtual void Rewind(WorkId work_id) = 0;

  // Work that is kept for a worker while that is registered. Nobody is at first.
  virtual void SetRegistered(std::uint32_t /*worker*/, bool /*registered*/) {}
  /// A worker has the work id, or it is committed: it need not come before Rewind. Called often;
  /// cheap. REQUIRES: the work id exists.
  virtual void Taken(WorkId /*work_id*/) {}
  /// Work ids that Next has for one worker alone, of all workers; and the first one of those.
  virtual std::uint64_t kept() const { return 0; }
  virtual std::optional<WorkId> KeptFor(std::uint32_t /*worker*/) const { return std::nullopt; }
  /// Open work ids that Next passes over for one worker, and has for any other.
  virtual std::uint64_t aside() const { return 0; }

  // What work ids are is kept, since a shard that is restored may lack them again.

  /// Work ids with a number below this are done for good: nobody asks what they are any more.
  /// REQUIRES: each of them is committed, and stays so.
  virtual void Forget(std::uint64_t /*number*/) {}
  /// The number that Forget was called with last; 0: nothing is forgotten.
  virtual std::uint64_t forgotten() const { return 0; }
  /// Bytes that Forget would free. REQUIRES: number <= work_ids().
  virtual std::size_t KeptBelow(std::uint64_t /*number*/) const { return 0; }

  bool Contains(WorkId work_id) const {
    if (work_id.batch >= chunk_size() || Number(work_id) >= work_ids()) return false;
    constexpr std::uint32_t kWordBits = 64;
    return ((Wanted(work_id.epoch, work_id.batch / kWordBits) >> (work_id.batch % kWordBits)) &
            1) != 0;
  }
  std::uint64_t Number(WorkId work_id) const {
    return std::uint64_t{work_id.epoch} * chunk_size() + work_id.batch;
  }
};

}  // namespace pstrain
