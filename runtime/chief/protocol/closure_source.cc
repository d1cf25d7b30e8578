#include "runtime/chief/protocol/closure_source.h"

#include <algorithm>
#include <utility>

namespace pstrain {

// Rule 8, of a program. Invariant: shards begin with a mark that has all below; one that lacks some
// answers early, as they are of a phase of their own.
void ClosureSource::BeginAt(std::uint64_t first) {
  first_ = first;
  before_ = {1, kVoidWork, std::make_shared<const WorkContent>(WorkContent{kVoidWork, {}})};
  records_ = static_cast<std::int64_t>(first);
  if (first > 0) phases_.push_back(first);
  next_ = first;
}

// Rule 1. Invariant: work ids are numbered in the order of their adding, without gaps. A thousand
// equal calls are kept once.
WorkId ClosureSource::Add(std::uint32_t records, WorkContent content) {
  const std::uint32_t kind = content.kind;
  if (!closures_.empty() && *closures_.back().content == content) {
    closures_.push_back({records, kind, closures_.back().content});
  } else {
    payload_bytes_ += content.payload.size();
    closures_.push_back({records, kind, std::make_shared<const WorkContent>(std::move(content))});
  }
  records_ += records;
  return IdOf(end() - 1);
}

// Rule 1. Invariant: phases_ ascends, and no phase is empty but perhaps the last.
void ClosureSource::EndPhase() {
  const std::uint64_t first = end();
  if (first > 0 && (phases_.empty() || phases_.back() < first)) phases_.push_back(first);
}

// Rule 1. Invariant: a work id stays where it is, in its phase and in the order, whatever it
// becomes (SetKind); and its payload stays, for a shard that has it already, or lacks it again.
WorkContent ClosureSource::ContentOf(WorkId work_id) const {
  const Closure& closure = Of(work_id);
  WorkContent content = *closure.content;
  content.kind = closure.kind;
  return content;
}

// Rule 1. Invariant: every work id lies in a chunk below this, and only the last one may have room.
std::uint32_t ClosureSource::chunks() const {
  return static_cast<std::uint32_t>((end() + kChunkSize - 1) / kChunkSize);
}

// Rule 1: the first work id of its own phase; {0, 0} for those of the first phase. Invariant: what
// is added later never makes a work id wait for more.
WorkId ClosureSource::After(WorkId work_id) const {
  const auto next = std::ranges::upper_bound(phases_, Number(work_id));
  return next == phases_.begin() ? WorkId{} : IdOf(*(next - 1));
}

// Rule 1: the lowest id first. Invariant: what is passed over unseen is committed. A chunk that is
// not full is never passed over whole, because work may still be added to it.
std::optional<WorkId> ClosureSource::Next(std::uint32_t /*worker*/, const Whole& whole) {
  while (next_ < end()) {
    const WorkId work_id = IdOf(next_);
    if (work_id.batch == 0 && end() - next_ >= kChunkSize && whole(work_id.epoch)) {
      next_ += kChunkSize;
      continue;
    }
    ++next_;
    return work_id;
  }
  return std::nullopt;
}

}  // namespace pstrain
