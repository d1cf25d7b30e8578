#include "runtime/rpc/control_shards.h"

#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

using Wire = WireShardAssignment;

Wire::Source SourceToWire(AssignSource source) {
  switch (source) {
    case AssignSource::kInitial:
      return Wire::INITIAL;
    case AssignSource::kRestore:
      return Wire::RESTORE;
    case AssignSource::kKeep:
      return Wire::KEEP;
    case AssignSource::kDrop:
      return Wire::DROP;
    case AssignSource::kMove:
      return Wire::MOVE;
  }
  return Wire::SOURCE_UNSPECIFIED;
}

Result<AssignSource> SourceFromWire(Wire::Source source) {
  switch (source) {
    case Wire::INITIAL:
      return AssignSource::kInitial;
    case Wire::RESTORE:
      return AssignSource::kRestore;
    case Wire::KEEP:
      return AssignSource::kKeep;
    case Wire::DROP:
      return AssignSource::kDrop;
    case Wire::MOVE:
      return AssignSource::kMove;
    default:
      // To guess would be to serve values that nobody asked for.
      return InvalidArgumentError("unknown source of a shard");
  }
}

}  // namespace

void ToWire(const ShardCopy& copy, WireShardCopy* wire) {
  wire->set_shard(copy.shard);
  ToWire(copy.term, wire->mutable_term());
  wire->set_active(copy.active);
  if (copy.active) wire->set_applied(copy.applied.Serialize());
  wire->set_examples_applied(copy.examples);
  for (const WorkId work_id : copy.left_out) ToWire(work_id, wire->add_left_out());
}

Result<ShardCopy> FromWire(const WireShardCopy& wire) {
  ShardCopy copy;
  copy.shard = wire.shard();
  copy.term = FromWire(wire.term());
  copy.active = wire.active();
  copy.examples = wire.examples_applied();
  for (const WireWorkId& work_id : wire.left_out()) copy.left_out.push_back(FromWire(work_id));
  // A copy that is not complete has no set that anybody could count on.
  if (wire.active()) {
    PSTRAIN_ASSIGN_OR_RETURN(copy.applied, AppliedSet::Parse(wire.applied()));
  }
  return copy;
}

void ToWire(const ShardAssignment& assignment, WireShardAssignment* wire) {
  wire->set_shard(assignment.shard);
  ToWire(assignment.term, wire->mutable_term());
  wire->set_source(SourceToWire(assignment.source));
  if (assignment.source != AssignSource::kMove) return;
  wire->set_from_address(assignment.from);
  ToWire(assignment.from_term, wire->mutable_from_term());
}

Result<ShardAssignment> FromWire(const WireShardAssignment& wire) {
  ShardAssignment assignment;
  assignment.shard = wire.shard();
  assignment.term = FromWire(wire.term());
  PSTRAIN_ASSIGN_OR_RETURN(assignment.source, SourceFromWire(wire.source()));
  if (assignment.source == AssignSource::kMove) {
    assignment.from = wire.from_address();
    assignment.from_term = FromWire(wire.from_term());
  }
  return assignment;
}

}  // namespace pstrain
