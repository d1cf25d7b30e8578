#pragma once

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// The evaluator's life: evaluates the checkpoints that the chief names, which pins them, and
/// reports the metrics. Reads checkpoints only, never a ps. Returns the exit code: 0 when the job
/// is finished, 85 when it was told to stop or the job was drained, 86 when a newer attempt has
/// taken its place; or the error. Runs on the thread that calls it, and starts others.
Result<int> RunEvaluator(const RoleContext& context, const Training& training);

}  // namespace pstrain
