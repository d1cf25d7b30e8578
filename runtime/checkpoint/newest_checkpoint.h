#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {

/// The file newest-checkpoint of a run directory, which names its newest checkpoint. A listing of
/// NFS may lack names that another node has made less than a minute ago (nfs(5), acdirmax), while a
/// file that is opened by its name is as it was last closed: a chief on another node finds by it
/// what its listing does not show yet. It adds to the listing and replaces nothing of it, so that
/// one that is missing, old or damaged does no harm. Free functions; any thread.

/// Notes the checkpoint, durably, unless the file names a newer one. REQUIRES: it is in place.
Status NoteNewestCheckpoint(const std::string& run_directory, CheckpointId id);

/// What the file names, if its manifest is there; nothing when there is no such file or it is not
/// legible. Other errors of the disk: as ReadCheckpointFile, but for NOT_FOUND.
Result<std::optional<CheckpointId>> NotedNewestCheckpoint(const std::string& run_directory);

}  // namespace pstrain
