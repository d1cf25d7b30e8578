#include "runtime/chief/peers/ps_messages.h"

#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
AssignShardsRequest ToRequest(const AssignShardsAction& action, std::uint64_t chief_term) {
  AssignShardsRequest request;
  request.set_chief_term(chief_term);
  request.set_incarnation(action.incarnation);
  request.set_checkpoint(action.checkpoint);
  for (const ShardAssignment& assignment : action.shards) ToWire(assignment, request.add_shards());
  return request;
}

WriteCheckpointShardsRequest ToRequest(const CheckpointPlan& plan, const CheckpointPlan::Ps& ps,
                                       std::uint64_t chief_term) {
  WriteCheckpointShardsRequest request;
  request.set_chief_term(chief_term);
  request.set_incarnation(ps.incarnation);
  request.set_close_epochs_below(plan.close_epochs_below);
  request.set_base(plan.base);
  request.set_final(plan.whole);
  for (const ShardInTerm& shard : ps.shards) ToWire(shard, request.add_shards());
  return request;
}

}  // namespace pstrain
