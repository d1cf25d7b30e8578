#pragma once

#include <functional>
#include <memory>

#include "base/status.h"
#include "runtime/cluster/role_context.h"
#include "runtime/cluster/try_again.h"
#include "runtime/worker/worker_step.h"

namespace pstrain {

/// What a worker is told of its job beside RoleContext, whatever the job trains. Made from
/// spec.training by runtime/model/training/training_jobs.h. A value. It does not change: any thread
/// may read it.
struct WorkerJob {
  /// What is not finite is left out (PushRequest::non_finite) instead of failing the job.
  bool leave_out_non_finite = false;
  /// Makes the step, once the chief has described the run. `pause`: how it waits between two tries
  /// of a disk. The context outlives the step. An error ends the worker, and the job where
  /// IsInvalidInput of it (runtime/cluster/permanent_failure.h).
  std::function<Result<std::unique_ptr<WorkerStep>>(const RoleContext& context,
                                                    TryAgain::Pause pause)>
      create_step;
};

}  // namespace pstrain
