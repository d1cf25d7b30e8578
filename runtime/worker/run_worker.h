#pragma once

#include "base/status.h"
#include "runtime/cluster/role_context.h"
#include "runtime/worker/worker_job.h"

namespace pstrain {

/// A worker's life: takes grants from the chief and turns each into one applied batch. Survives the
/// loss of the chief and of ps. Returns the exit code: 0 when the job is finished, 85 when it was
/// told to stop or the job was drained, 86 when a newer process took its place; or the error. Runs
/// on the thread that calls it, and starts others.
Result<int> RunWorker(const RoleContext& context, const WorkerJob& job);

}  // namespace pstrain
