#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// What the commit protocol remembers of the checkpoint under way and of those that the next one
/// may build on (rule 5). Plain data of CommitProtocol; one thread at a time, by the chief's lock.

/// Started, and neither placed nor given up.
struct PendingCheckpoint {
  /// Of each shard at the start: a checkpoint shard of another shard term does not belong to it.
  std::vector<ShardTerm> terms;
  /// Epochs that were committed as a whole at the start: every shard's copy has them.
  std::uint32_t complete_epochs = 0;
  /// The same by number: every shard's copy has all work ids below.
  std::uint64_t covers = 0;
  bool final = false;
  /// As CheckpointPlan.
  bool whole = false;
  /// ps that were leaving at the start: the checkpoint saves all that they have.
  std::set<Incarnation> leaving;
  std::string base;
  bool incremental = false;
  std::uint64_t bytes = 0;
};

/// The last full checkpoint that this chief has placed, and those that build on it.
struct CheckpointIncrements {
  std::string newest;
  /// Of the newest.
  std::vector<ShardTerm> terms;
  std::uint32_t increments = 0;
  std::uint64_t full_bytes = 0;
  std::uint64_t increment_bytes = 0;
  /// The newest has all work ids with a number below this.
  std::uint64_t covers = 0;
};

}  // namespace pstrain
