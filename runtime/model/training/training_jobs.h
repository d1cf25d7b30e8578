#pragma once

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/chief/chief_job.h"
#include "runtime/cluster/job_settings.h"
#include "runtime/ps/ps_job.h"
#include "runtime/worker/worker_job.h"

namespace pstrain {

/// spec.training as the roles take it: the only place that reads it for them, so that none of them
/// depends on what a job trains (the test training_readers). Free functions; any thread. What they
/// return holds no reference to its arguments; the functions in it read files.

/// FAILED_PRECONDITION: the job has no spec.training.
Status CheckHasTraining(const PSTrainingJob& job);

/// REQUIRES for all below: CheckHasTraining is OK.
JobSettings SettingsOf(const PSTrainingJob& job);
ChiefJob ChiefJobOf(const PSTrainingJob& job);
PsJob PsJobOf(const PSTrainingJob& job);
WorkerJob WorkerJobOf(const PSTrainingJob& job);

}  // namespace pstrain
