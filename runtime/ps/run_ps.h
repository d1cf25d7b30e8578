#pragma once

#include "base/status.h"
#include "runtime/cluster/role_context.h"
#include "runtime/ps/ps_job.h"

namespace pstrain {

/// A ps' life: listens, registers with the chief, serves shards until it is released. Survives the
/// loss of the chief (it registers with the next one). Returns the exit code: 0 when the job is
/// finished, 85 when it was told to stop, 86 when it was replaced; or the error that it ends with
/// (FAILED_PRECONDITION: the port is in use; DEADLINE_EXCEEDED: no chief within
/// peerTimeoutSeconds). Runs on the thread that calls it, and starts others.
Result<int> RunPs(const RoleContext& context, const PsJob& job);

}  // namespace pstrain
