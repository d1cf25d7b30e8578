#pragma once

#include <stop_token>

#include "base/status.h"
#include "operator/job/reconcile_context.h"
#include "operator/kube/api_client.h"

namespace pstrain::job {

/// Brings the annotation kPsReplicasAnnotation of the job's running chief up to date with the
/// specification: a merge patch on condition of the pod's uid. True when it changed; the chief
/// reads it within seconds. A pod without the annotation is of a job that runs its own program, or
/// was made by an operator that did not write it: it is left alone. Any thread.
Result<bool> WritePsCount(kube::ApiClient& client, const ReconcileContext& context);

}  // namespace pstrain::job
