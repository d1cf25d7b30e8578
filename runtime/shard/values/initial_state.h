#pragma once

#include <cstdint>
#include <span>

#include "runtime/shard/catalog.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {

/// What variables begin with. Pure; any thread.

/// A partition with its initial values and slots. REQUIRES: it exists.
DenseState InitialDense(const Catalog& catalog, const PartitionRef& ref);

/// The partitions of the shard that are of variables with ids below `variables`: the first ones of
/// Catalog::DenseOf.
std::span<const PartitionRef> DenseBelow(const Catalog& catalog, ShardId shard,
                                         std::uint32_t variables);

}  // namespace pstrain
