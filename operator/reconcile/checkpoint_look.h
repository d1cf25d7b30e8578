#pragma once

#include "operator/kube/api_client.h"
#include "operator/reconcile/actuator.h"

namespace pstrain::reconcile {

/// Finds out whether all replicas see one checkpoint directory, into `hand.state.checkpoint`: once
/// for each generation of the job, and every five minutes while a claim is not as it should be or
/// could not be read. One GET at most. Never fails: a job is not held up by it.
void LookAtCheckpointVolume(kube::ApiClient& client, const JobInHand& hand);

}  // namespace pstrain::reconcile
