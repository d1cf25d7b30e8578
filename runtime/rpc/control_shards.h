#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/contract/control.pb.h"
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
