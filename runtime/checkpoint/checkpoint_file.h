#pragma once

#include <string>

#include "base/status.h"

namespace pstrain {

/// Only proven damage removes a checkpoint. An error of the device or of the network file system
/// (EIO, ESTALE, ENOSPC, EACCES, ...) proves nothing about what lies on it: who meets one waits and
/// tries again. Free functions; any thread.

/// A file of a checkpoint as a whole. NOT_FOUND only when it is proven missing: its directory can
/// be listed and does not have it, or the checkpoint's folder is proven missing in the same way.
/// UNAVAILABLE when the listing has it, or when the folder of all checkpoints is not there either
/// (the volume is not mounted, a network file system answers with old names), and when a folder or
/// a file is in the way (EISDIR, ENOTDIR). Other errors as ReadFile.
Result<std::string> ReadCheckpointFile(const std::string& path);

/// Whether a file of a checkpoint is there. Errors as ReadCheckpointFile, but for NOT_FOUND.
Result<bool> CheckpointFileExists(const std::string& path);

/// Trying again does not help: the bytes were read and are wrong (DATA_LOSS), are of another format
/// (FAILED_PRECONDITION), or are proven missing (NOT_FOUND).
bool IsProvenDamage(const Status& status);

}  // namespace pstrain
