#include "runtime/chief/peers/ps_messages.h"

#include <utility>

#include "runtime/rpc/control_ids.h"

namespace pstrain {
namespace {

ShardAssignment::Source SourceToWire(AssignSource source) {
  switch (source) {
    case AssignSource::kInitial:
      return ShardAssignment::INITIAL;
    case AssignSource::kRestore:
      return ShardAssignment::RESTORE;
    case AssignSource::kKeep:
      return ShardAssignment::KEEP;
    case AssignSource::kDrop:
      return ShardAssignment::DROP;
    case AssignSource::kMove:
      return ShardAssignment::MOVE;
  }
  return ShardAssignment::SOURCE_UNSPECIFIED;
}

}  // namespace

Result<std::vector<ShardCopy>> ParseCopies(const WireShardCopies& shards) {
  std::vector<ShardCopy> copies;
  for (const WireShardCopy& shard : shards) {
    ShardCopy copy;
    copy.shard = shard.shard();
    copy.term = FromWire(shard.term());
    copy.active = shard.active();
    copy.examples = shard.examples_applied();
    if (shard.active()) {
      PSTRAIN_ASSIGN_OR_RETURN(copy.applied, AppliedSet::Parse(shard.applied()));
    }
    copies.push_back(std::move(copy));
  }
  return copies;
}

AssignShardsRequest ToRequest(const AssignShardsAction& action, std::uint64_t chief_term) {
  AssignShardsRequest request;
  request.set_chief_term(chief_term);
  request.set_incarnation(action.incarnation);
  request.set_checkpoint(action.checkpoint);
  for (const Assignment& assignment : action.shards) {
    ShardAssignment* wire = request.add_shards();
    wire->set_shard(assignment.shard);
    ToWire(assignment.term, wire->mutable_term());
    wire->set_source(SourceToWire(assignment.source));
    if (assignment.source != AssignSource::kMove) continue;
    wire->set_from_address(assignment.from);
    ToWire(assignment.from_term, wire->mutable_from_term());
  }
  return request;
}

WriteCheckpointShardsRequest ToRequest(const CheckpointPlan& plan, const CheckpointPlan::Ps& ps,
                                       std::uint64_t chief_term) {
  WriteCheckpointShardsRequest request;
  request.set_chief_term(chief_term);
  request.set_incarnation(ps.incarnation);
  request.set_close_epochs_below(plan.close_epochs_below);
  request.set_base(plan.base);
  for (const ReportedCopy& copy : ps.shards) {
    ShardAssignment* shard = request.add_shards();
    shard->set_shard(copy.shard);
    ToWire(copy.term, shard->mutable_term());
  }
  return request;
}

}  // namespace pstrain
