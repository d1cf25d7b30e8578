#include "runtime/chief/protocol/closure_source.h"

#include <algorithm>

namespace pstrain {

WorkId ClosureSource::Add(std::uint32_t records) {
  records_of_.push_back(records);
  records_ += records;
  return IdOf(records_of_.size() - 1);
}

void ClosureSource::EndPhase() {
  const std::uint64_t first = records_of_.size();
  if (first > 0 && (phases_.empty() || phases_.back() < first)) phases_.push_back(first);
}

std::uint32_t ClosureSource::chunks() const {
  return static_cast<std::uint32_t>((records_of_.size() + kChunkSize - 1) / kChunkSize);
}

WorkId ClosureSource::After(WorkId work_id) const {
  const auto next = std::ranges::upper_bound(phases_, Number(work_id));
  return next == phases_.begin() ? WorkId{} : IdOf(*(next - 1));
}

std::optional<WorkId> ClosureSource::Next(std::uint32_t /*worker*/, const Whole& whole) {
  while (next_ < records_of_.size()) {
    const WorkId work_id = IdOf(next_);
    if (work_id.batch == 0 && records_of_.size() - next_ >= kChunkSize && whole(work_id.epoch)) {
      next_ += kChunkSize;
      continue;
    }
    ++next_;
    return work_id;
  }
  return std::nullopt;
}

}  // namespace pstrain
