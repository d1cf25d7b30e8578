#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/shard_set.h"
#include "runtime/shard/shard_copy.h"

namespace pstrain {

/// Shards as the control plane's messages carry them (proto/contract/control.proto). Pure
/// functions; any thread.

void ToWire(const ShardCopy& copy, WireShardCopy* wire);
/// DATA_LOSS: the applied set is damaged.
Result<ShardCopy> FromWire(const WireShardCopy& wire);

void ToWire(const ShardAssignment& assignment, WireShardAssignment* wire);
/// INVALID_ARGUMENT: a source that this program does not know.
Result<ShardAssignment> FromWire(const WireShardAssignment& wire);

/// Without words for none and for all, which is what nearly every report says.
void ToWire(const ShardSet& set, WireShardSet* wire);
/// Whether it is a set of shards of a run that has so many. OUT_OF_RANGE: a shard that the run does
/// not have; INVALID_ARGUMENT: words for another number of shards, or bits that are not as many as
/// it says.
Status CheckShardSet(const WireShardSet& wire, std::uint32_t shards);
/// REQUIRES: CheckShardSet is OK.
ShardSet FromWire(const WireShardSet& wire, std::uint32_t shards);

/// Says in a report which shards have the work and which were early: those that answered in the
/// very term that `membership` names. What a shard has taken in another term is not said, for that
/// copy may be gone; the chief grants the work again for it. REQUIRES: shards of the membership.
void SetShards(const Membership& membership, std::span<const ShardInTerm> have,
               std::span<const ShardInTerm> early, Report* report);

/// All of a repeated field, or the first error.
template <typename T, typename Wire>
Result<std::vector<T>> AllFromWire(const google::protobuf::RepeatedPtrField<Wire>& wire) {
  std::vector<T> all;
  all.reserve(static_cast<std::size_t>(wire.size()));
  for (const Wire& one : wire) {
    PSTRAIN_ASSIGN_OR_RETURN(T read, FromWire(one));
    all.push_back(std::move(read));
  }
  return all;
}

}  // namespace pstrain
