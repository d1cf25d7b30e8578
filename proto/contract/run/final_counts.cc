#include "proto/contract/run/final_counts.h"

#include <array>
#include <optional>
#include <utility>

#include "proto/contract/run_files.h"

namespace pstrain {

std::string MismatchOf(const FinalCounts& counts) {
  const bool agree = counts.committed == counts.expected && counts.applied_min == counts.expected &&
                     counts.applied_max == counts.expected;
  if (agree) return {};
  return "of " + std::to_string(counts.expected) + " examples " + std::to_string(counts.committed) +
         " were committed, and the shards have applied " + std::to_string(counts.applied_min) +
         " to " + std::to_string(counts.applied_max);
}

Result<FinalCounts> ProvenCountsIn(const Json& result) {
  FinalCounts counts;
  const std::array<std::pair<const char*, std::int64_t*>, 4> members = {{
      {"examples_expected", &counts.expected},
      {"examples_committed", &counts.committed},
      {"applied_min", &counts.applied_min},
      {"applied_max", &counts.applied_max},
  }};
  for (const auto& [key, count] : members) {
    const Json* value = result.Find(key);
    const std::optional<std::int64_t> number = value ? value->AsInt64() : std::nullopt;
    if (!number) return DataLossError(std::string(kRunResultFile) + " has no number " + key);
    *count = *number;
  }
  counts.early_stopped = result.Find(kResultEarlyStopped) != nullptr;
  if (const std::string mismatch = MismatchOf(counts); !mismatch.empty()) {
    return DataLossError(std::string(kRunResultFile) + ": " + mismatch);
  }
  return counts;
}

}  // namespace pstrain
