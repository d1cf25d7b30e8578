#pragma once

#include <pstrain/cluster_resolver.h>

#include <memory>

#include "base/status.h"
#include "proto/job/fixed_fields.h"
#include "proto/job/psjob.pb.h"
#include "runtime/chief/chief_job.h"
#include "runtime/cluster/job_settings.h"
#include "runtime/cluster/process/role_process.h"
#include "runtime/ps/ps_job.h"

namespace pstrain {

/// This process as a task of a program of several processes: reads the job and what else the agent
/// has put into the environment. `parts`: a digest of what has to be the same in all roles
/// (JobSettings::program); the build is added. Sets TMPDIR to the replica's scratch directory where
/// it is not set. Once in a process. INVALID_ARGUMENT: the cluster has
/// no such task, or the job cannot be read; FAILED_PRECONDITION: it has no spec.program, or is not
/// the first call. Both say what to do. One thread, before others of the process use its signals.
Result<std::unique_ptr<RoleProcess>> OpenProgramProcess(const ClusterResolver& cluster,
                                                        FixedDigests parts);

/// spec.program as the roles take it, as runtime/model/training does with spec.training.
/// REQUIRES: it is there. Pure; any thread.
JobSettings SettingsOfProgram(const PSTrainingJob& job, FixedDigests parts);
ChiefJob ChiefJobOfProgram(const PSTrainingJob& job);
PsJob PsJobOfProgram();

}  // namespace pstrain
