#pragma once

#include <optional>

#include "operator/job/observe/problem/problem.h"
#include "operator/job/observe/training_status.h"

namespace pstrain::job {

/// Type of the condition that is True while the chief cannot write checkpoints, or the result.
/// Training goes on meanwhile; the end of the job waits for the final checkpoint and the result.
inline constexpr char kCheckpointsFailing[] = "CheckpointsFailing";

/// What a reading of the chief says: nothing when no checkpoint has failed for half a minute. The
/// reason is the text of the error in CamelCase (NoSpaceLeftOnDevice), or CheckpointNotWritten
/// where there is no errno. The message changes only when half a minute, ten minutes or an hour
/// have passed, so that the status is not written with every reading. Pure; any thread.
std::optional<Problem> CheckpointsFailing(const ProgressReading& reading);

}  // namespace pstrain::job
