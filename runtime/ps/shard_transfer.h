#pragma once

#include <chrono>
#include <vector>

#include "base/status.h"
#include "runtime/rpc/bytes.h"
#include "runtime/rpc/transport.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain {

/// A shard on its way from one ps to another (DataOp::kFetch): the middle of a Move. The source
/// freezes the shard before it answers, so the answer is the last word on its values; the target
/// gets it whole or not at all, which the checksum decides. Little-endian:
///
///   request  "PSf1", u32 shard, u64 term.chief_term, u64 term.counter
///   reply    "PSg1", u32 CRC-32C of the rest, the shard as in a file of a checkpoint
///            (runtime/checkpoint/checkpoint_shard_format.h)
///
/// Free functions; any thread.

Bytes EncodeFetch(const ShardInTerm& shard);
/// INVALID_ARGUMENT: not what EncodeFetch writes.
Result<ShardInTerm> ParseFetch(const Bytes& body);

Bytes EncodeTransfer(const ShardState& state);
/// DATA_LOSS: damaged, or not what EncodeTransfer writes.
Result<ShardState> ParseTransfer(const Bytes& body);

/// Asks the ps at the other end for these shards, which it stops serving, and waits for all of
/// them. The first error of any: the transport's, the other engine's, DATA_LOSS for another shard
/// or term than was asked for.
Result<std::vector<ShardState>> FetchShards(Connection& source,
                                            const std::vector<ShardInTerm>& shards,
                                            std::chrono::steady_clock::time_point deadline);

}  // namespace pstrain
