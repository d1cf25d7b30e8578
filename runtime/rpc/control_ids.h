#pragma once

#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Terms and work ids as the control plane's messages carry them. Pure functions; any thread.
inline ShardTerm FromWire(const WireShardTerm& term) { return {term.chief_term(), term.counter()}; }
inline WorkId FromWire(const WireWorkId& work_id) { return {work_id.epoch(), work_id.batch()}; }
inline ShardInTerm FromWire(const WireShardInTerm& shard) {
  return {shard.shard(), FromWire(shard.term())};
}

inline void ToWire(const ShardTerm& term, WireShardTerm* wire) {
  wire->set_chief_term(term.chief_term);
  wire->set_counter(term.counter);
}
inline void ToWire(const WorkId& work_id, WireWorkId* wire) {
  wire->set_epoch(work_id.epoch);
  wire->set_batch(work_id.batch);
}
inline void ToWire(const ShardInTerm& shard, WireShardInTerm* wire) {
  wire->set_shard(shard.shard);
  ToWire(shard.term, wire->mutable_term());
}

}  // namespace pstrain
