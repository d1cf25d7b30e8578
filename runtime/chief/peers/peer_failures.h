#pragma once

#include "base/status.h"
#include "proto/contract/control.pb.h"

namespace pstrain {

/// What a peer says that no attempt can change: a variable that has become infinite or not a
/// number, a batch whose gradient is, a checkpoint whose scores are. OK when it says nothing.
/// FAILED_PRECONDITION begins with the peer: the executor shows this message alone. Whether the
/// peer is the current process of its index is the caller's to check. Pure; any thread.
Status FailureOf(const HeartbeatPsRequest& request);
Status FailureOf(const PollWorkerRequest& request);
/// Also when a metric is not finite: result.json has no number for it.
Status FailureOf(const PollEvaluatorRequest& request);

}  // namespace pstrain
