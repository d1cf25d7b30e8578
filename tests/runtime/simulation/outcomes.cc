#include "tests/runtime/simulation/outcomes.h"

#include <algorithm>

#include "runtime/chief/protocol/closure_source.h"

namespace pstrain::simulation {

KnownOutcomes& Outcomes() {
  static KnownOutcomes outcomes;
  return outcomes;
}

void KnownOutcomes::Told(std::uint64_t call, const Status& outcome) {
  told_[call] = outcome.ok() || outcome.message().find("on all shards") != std::string::npos;
}

Status KnownOutcomes::Check(const std::vector<std::set<WorkId>>& left_out) const {
  std::uint64_t seen = 0;
  for (const auto& [call, has_changes] : told_) {
    const auto without = std::ranges::count_if(
        left_out,
        [id = ClosureSource::IdOf(call)](const auto& of_shard) { return of_shard.contains(id); });
    const bool all = without == static_cast<std::int64_t>(left_out.size());
    const bool agreed = has_changes ? without == 0 : all;
    if (!agreed) ++seen;
  }
  if (seen == lost_) return OkStatus();
  return InternalError("shards go without the updates of " + std::to_string(seen) + " calls, and " +
                       std::to_string(lost_) + " are counted as lost in repair");
}

}  // namespace pstrain::simulation
