#include "runtime/worker/report_shards.h"

#include <cstdint>

#include "runtime/requests/shard_set.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

ShardSet Named(const Membership& membership, std::span<const ShardInTerm> shards) {
  ShardSet named(static_cast<std::uint32_t>(membership.shards_size()));
  for (const ShardInTerm& shard : shards) {
    const ShardOwner& owner = membership.shards(static_cast<int>(shard.shard));
    if (owner.active() && FromWire(owner.term()) == shard.term) named.Add(shard.shard);
  }
  return named;
}

}  // namespace

void SetShards(const Membership& membership, std::span<const ShardInTerm> have,
               std::span<const ShardInTerm> early, Report* report) {
  report->set_membership(membership.number());
  ToWire(Named(membership, have), report->mutable_shards());
  if (!early.empty()) ToWire(Named(membership, early), report->mutable_early());
}

}  // namespace pstrain
