#include "runtime/chief/protocol/ends/early_end.h"

#include <cstdint>

namespace pstrain {

// Rule 12, an early end. Invariant: each work id that a shard may have applied is in it: it is
// committed, with a worker, in some shard, or came back. What came back from a worker for which it
// was only kept is in it too, which costs a few batches more.
AppliedSet EarlyEnd::Granted() const {
  AppliedSet granted(ledger_.chunk_size());
  for (std::uint32_t chunk = 0; chunk < ledger_.chunks(); ++chunk) {
    for (std::uint32_t batch = 0; batch < ledger_.chunk_size(); ++batch) {
      const WorkId work_id{chunk, batch};
      if (ledger_.Valid(work_id) && ledger_.Begun(work_id)) granted.Insert(work_id);
    }
  }
  for (const WorkId work_id : ledger_.returned()) {
    if (ledger_.Valid(work_id)) granted.Insert(work_id);
  }
  return granted;
}

// Rule 12. Invariant: the shards of a final checkpoint have the same work ids, also where one has a
// push of a worker that no chief has heard of.
void EarlyEnd::Adopt(const std::vector<WrittenCheckpointShard>& checkpoint_shards) {
  if (!begun_) return;
  for (const WrittenCheckpointShard& written : checkpoint_shards) {
    if (!written.applied || written.applied->batches_per_epoch() != ledger_.chunk_size()) continue;
    for (std::uint32_t chunk = 0; chunk < ledger_.chunks(); ++chunk) {
      ledger_.Adopt(chunk, *written.applied);
    }
  }
}

}  // namespace pstrain
