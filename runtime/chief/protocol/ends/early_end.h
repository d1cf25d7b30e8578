#pragma once

#include <vector>

#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/chief/protocol/work_ledger.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// The end of a run before all of its input was granted (rule 12, spec.training.earlyStopping).
/// From Begin on the run is to have what was granted, and nothing else: that is what
/// CommitProgress::examples_expected counts, what every shard has to prove, and what is granted
/// again where a shard lacks it. A work id that turns out to have been granted all the same (a
/// shard has applied it, a worker that nobody had heard of has it or reports it) is wanted of every
/// shard from then on, until the final checkpoint is in place. Part of CommitProtocol; one thread
/// at a time.
class EarlyEnd {
 public:
  /// `ledger` outlives it.
  explicit EarlyEnd(WorkLedger& ledger) : ledger_(ledger) {}
  EarlyEnd(const EarlyEnd&) = delete;
  EarlyEnd& operator=(const EarlyEnd&) = delete;

  /// What was granted so far, by this chief and as far as is known by those before it. Looks at
  /// every work id.
  AppliedSet Granted() const;
  /// There is more to grant than `granted`.
  bool LeavesSomething(const AppliedSet& granted) const {
    return granted.size() < ledger_.work_ids_expected();
  }

  /// The run ends with these. REQUIRES: its work is an input; nothing was granted since Granted.
  void Begin(const AppliedSet& granted) {
    begun_ = true;
    ledger_.EndEarly(granted);
  }
  bool begun() const { return begun_; }
  /// What shards have applied was granted.
  void Adopt(const std::vector<WrittenCheckpointShard>& checkpoint_shards);
  /// The final checkpoint is in place: what comes now is in it, or is of no use any more.
  void Close() { ledger_.CloseEnd(); }

 private:
  WorkLedger& ledger_;
  bool begun_ = false;
};

}  // namespace pstrain
