// What attempts of atomic functions have come to (docs/design/atomic-functions.md).
#include <algorithm>

#include "library/coordinator/closure_queue.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {

// Invariant: of each call one outcome at most is ever answered to count while some shard may lack
// it, and none once it is void.
std::optional<std::string> ClosureQueue::Prepared(WorkId work_id, const std::string& outcome,
                                                  const CommitProtocol& protocol) {
  const MutexLock lock(mutex_);
  // It was voided while the attempt was taken for lost, or it has failed.
  if (source_->KindOf(work_id) == kVoidWork) return "";
  const Id id = source_->Number(work_id);
  if (const std::string* const kept = prepared_.Find(id)) {
    return *kept == outcome ? std::nullopt : std::optional(*kept);
  }
  // What it came to is not known any more, and is on all shards.
  if (protocol.Committed(work_id)) return "";
  const std::size_t kept = source_->kept_bytes() + read_only_.bytes();
  const std::size_t most = limits_.kept - std::min(limits_.kept, kept);
  if (prepared_.Keep(id, outcome, most, CommittedBy(protocol))) return std::nullopt;
  return "";
}

const std::string* ClosureQueue::PreparedOf(WorkId work_id) const {
  const MutexLock lock(mutex_);
  if (source_->KindOf(work_id) == kVoidWork) return nullptr;
  return prepared_.Find(source_->Number(work_id));
}

void ClosureQueue::ShrinkPrepared(std::size_t payloads, const CommitProtocol& protocol) {
  const MutexLock lock(mutex_);
  prepared_.ShrinkTo(limits_.kept - std::min(limits_.kept, payloads), CommittedBy(protocol));
}

PreparedOutcomes::Committed ClosureQueue::CommittedBy(const CommitProtocol& protocol) {
  return [&protocol](Id id) { return protocol.Committed(ClosureSource::IdOf(id)); };
}

}  // namespace pstrain
