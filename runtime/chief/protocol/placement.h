#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/requests/dtype.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Pure functions that say where parameters lie. Any thread. Two steps: partition -> shard, once
/// when a variable is declared and then read from its description; shard -> ps, by every chief for
/// the ps that the job has now.

/// Partitions along axis 0 that the partitioner makes of a variable, as
/// tf.distribute.experimental.partitioners counts them; 1 for a scalar. A partitioner that is not
/// set makes one. REQUIRES: dtype <= kLastDType.
std::int64_t PartitionCount(const VariablePartitioner& partitioner,
                            const std::vector<std::int64_t>& shape, DType dtype);

/// Of a variable in a pack at most, and of a pack: small enough that a step which needs a part of
/// it loses nothing by the rest, large enough that the frame of a part is nothing beside it.
inline constexpr std::int64_t kMostPackedBytes = 4 << 10;
inline constexpr std::int64_t kMostPackBytes = 64 << 10;

/// Fills `partitions` of every DENSE variable: as many as it has already, whatever is in them, else
/// what the partitioner says; they differ by at most one row, the longer ones first; and the shard
/// of each. LoadAware: ShardOfPartition of its name, whatever else there
/// is. RoundRobin: one after the other, through all variables, after the `placed` partitions of the
/// variables that were declared before. Small variables of one partition and one dtype, all with or
/// all without an optimizer, make packs: LoadAware, each lies where the name of its first one says;
/// RoundRobin, those whose turns have put them into one shard. Same input, same output.
/// INVALID_ARGUMENT: no shards, or a variable with a negative dimension. REQUIRES: the ids are set.
Status PlacePartitions(const VariablePartitioner& partitioner, Strategy::Placement placement,
                       std::uint32_t shards, std::uint64_t placed,
                       std::vector<VariableSpec>* variables);

/// The bytes of a step that each shard moves one way: all of its dense values, and an equal share
/// of the embedding rows that a batch of that many records touches at most.
std::vector<std::int64_t> ShardTraffic(const std::vector<VariableSpec>& variables,
                                       std::uint32_t shards, std::uint32_t batch_size);

/// Index of the ps of each shard. LoadAware: the busiest shard to the ps with the least traffic, of
/// equal ones to that with the fewest shards. RoundRobin: shard mod ps.
/// REQUIRES: partitions are placed, shards > 0, ps_count > 0.
std::vector<std::uint32_t> PlaceShards(const std::vector<VariableSpec>& variables,
                                       Strategy::Placement placement, std::uint32_t shards,
                                       std::uint32_t ps_count, std::uint32_t batch_size);

}  // namespace pstrain
