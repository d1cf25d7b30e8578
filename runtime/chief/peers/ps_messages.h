#pragma once

#include <cstdint>

#include "proto/contract/control.pb.h"
#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// Between the commit protocol's types and the control plane's messages to ps. Pure; any
/// thread.

AssignShardsRequest ToRequest(const AssignShardsAction& action, std::uint64_t chief_term);

/// The part of a checkpoint that one ps writes. The caller adds the checkpoint's name.
WriteCheckpointShardsRequest ToRequest(const CheckpointPlan& plan, const CheckpointPlan::Ps& ps,
                                       std::uint64_t chief_term);

}  // namespace pstrain
