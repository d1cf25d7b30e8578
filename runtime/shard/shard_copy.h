#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/requests/ids.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// What chief and ps tell each other about shards: the commit protocol decides with these structs,
/// the shard engine carries them out, and runtime/rpc/control_shards.h is their only encoding.
/// Values; one thread at a time.

/// A copy of a shard as the ps that has it describes it, without its values: at registration, and
/// in answer to an assignment.
struct ShardCopy {
  ShardId shard = 0;
  ShardTerm term;
  /// Complete: it can be kept. A frozen copy is, too.
  bool active = false;
  AppliedSet applied;
  /// Records of the work ids in `applied`.
  std::int64_t examples = 0;
  /// Those whose batches were left out (PushRequest::non_finite), ascending; only of a copy in a
  /// final checkpoint.
  std::vector<WorkId> left_out = {};
};

/// Where a ps gets an assigned shard from.
enum class AssignSource : std::uint8_t {
  /// Initial values, nothing applied.
  kInitial,
  /// A checkpoint.
  kRestore,
  /// The copy that the ps has continues under the new shard term.
  kKeep,
  /// None: the ps forgets the copy of exactly that shard term; another one stays.
  kDrop,
  /// Another ps, which still has it.
  kMove,
};

/// A shard is given to a ps, or taken from it.
struct ShardAssignment {
  ShardId shard = 0;
  /// New with every assignment. kDrop: the shard term of the copy to forget.
  ShardTerm term;
  AssignSource source = AssignSource::kInitial;
  /// kMove: address of the ps that has the copy, and the shard term of that copy.
  std::string from = {};
  ShardTerm from_term = {};
  friend bool operator==(const ShardAssignment&, const ShardAssignment&) = default;
};

}  // namespace pstrain
