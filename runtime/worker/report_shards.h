#pragma once

#include <span>

#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Says in a report which shards have the work and which were early: those that answered in the
/// very term that `membership` names. What a shard has taken in another term is not said, for that
/// copy may be gone; the chief grants the work again for it. Pure; any thread. REQUIRES: shards of
/// the membership.
void SetShards(const Membership& membership, std::span<const ShardInTerm> have,
               std::span<const ShardInTerm> early, Report* report);

}  // namespace pstrain
