#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// Between the commit protocol's types and the control plane's messages to and from ps. Pure; any
/// thread.

using WireShardCopies = google::protobuf::RepeatedPtrField<WireShardCopy>;
/// The copies that a ps holds, as it names them. The errors of AppliedSet::Parse.
Result<std::vector<ShardCopy>> ParseCopies(const WireShardCopies& shards);

AssignShardsRequest ToRequest(const AssignShardsAction& action, std::uint64_t chief_term);

/// The part of a checkpoint that one ps writes. The caller adds the checkpoint's name.
WriteCheckpointShardsRequest ToRequest(const CheckpointPlan& plan, const CheckpointPlan::Ps& ps,
                                       std::uint64_t chief_term);

}  // namespace pstrain
