#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/text/json.h"

namespace pstrain {

/// What the built-in chief has counted when it ends: members of result.json (run_files.h), and
/// numbers of its stats page. Success is proven by them alone: whoever hears of it checks them
/// again. Values and pure functions; any thread.
struct FinalCounts {
  std::int64_t expected = 0;
  std::int64_t committed = 0;
  /// Of the shard with the fewest examples and of that with the most.
  std::int64_t applied_min = 0;
  std::int64_t applied_max = 0;
  /// Expected is what was granted until the run ended early (spec.training.earlyStopping).
  bool early_stopped = false;
};

/// Empty when every example was committed and applied by every shard once; else what differs.
std::string MismatchOf(const FinalCounts& counts);

/// Of a result.json, parsed. DATA_LOSS: it lacks a number, or MismatchOf says what differs.
Result<FinalCounts> ProvenCountsIn(const Json& result);

}  // namespace pstrain
