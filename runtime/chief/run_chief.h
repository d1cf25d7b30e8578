#pragma once

#include "base/status.h"
#include "runtime/chief/chief_job.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// The chief's life: prepares the run, listens on context.listen_address, runs the job. Returns the
/// exit code, or the error that the process ends with. A run that already has a result is 0
/// immediately. Runs on the thread that calls it, and starts others.
Result<int> RunChief(const RoleContext& context, const ChiefJob& job);

}  // namespace pstrain
