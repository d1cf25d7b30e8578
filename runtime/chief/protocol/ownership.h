#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/requests/ids.h"
#include "runtime/shard/shard_copy.h"

namespace pstrain {

/// What CommitProtocol remembers of a shard and of a ps. Plain data, parts of it alone; one thread
/// at a time, by the chief's lock.

/// How far an assignment has come: nobody owns the shard; a ps was told to take it; a ps serves it.
enum class ShardPhase : std::uint8_t { kVacant, kAssigned, kActive };

/// Of one shard: which ps it is assigned to, under which term, and where it comes from.
struct ShardOwnership {
  /// The copy that a shard in kAssigned is moved from.
  struct Origin {
    std::uint32_t ps = 0;
    Incarnation incarnation = 0;
    ShardTerm term;
  };
  ShardPhase phase = ShardPhase::kVacant;
  std::uint32_t ps = 0;
  ShardTerm term;
  /// Highest term under which a copy was known to be active.
  ShardTerm last_active;
  /// MembershipView::number of the first one that names `term` as active. Meaningless unless
  /// kActive: a shard that was vacated since has another term.
  std::uint64_t active_since = 0;
  std::optional<Origin> origin;
};

/// Of one index: the process of the ps that is registered now.
struct RegisteredPs {
  Incarnation incarnation = 0;
  std::uint64_t process = 0;
  std::string address;
  bool leaving = false;
  /// The copies that it named at registration, until joining ends.
  std::vector<ShardCopy> copies;
};

}  // namespace pstrain
