#pragma once

#include <string>

#include "base/status.h"
#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// Reads the shards that `action` restores from its checkpoint, as the ps of `action` does, one at
/// a time. The chief's own look at a checkpoint that a ps finds damaged: a checkpoint is given up
/// for all, and what is wrong may be that ps' memory, or its node's view of the files. Errors as
/// CheckpointChain. Reads a disk: for the disk thread.
Status ReadToRestore(const std::string& run_directory, const AssignShardsAction& action);

}  // namespace pstrain
