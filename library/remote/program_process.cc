#include "library/remote/program_process.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/crc32c.h"
#include "base/os/allocator.h"
#include "library/remote/build_id.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/task_env.h"
#include "proto/contract/tf_config.h"
#include "runtime/cluster/process/stop_on_signal.h"
#include "runtime/cluster/process/task.h"
#include "runtime/rpc/system_resolver.h"

namespace pstrain {
namespace {

/// A push or pull of one variable has it whole; a gRPC message has 2 GiB at most.
constexpr std::uint64_t kMessageBytes = std::uint64_t{1} << 30;
/// As long as spec.training.evaluation.deadlineSeconds by default.
constexpr std::chrono::seconds kEvaluation{600};
/// Named last where more than it differs.
constexpr const char* kBuild = "the build of the program";

std::atomic<bool> opened = false;

/// REQUIRES: ClusterResolver::CheckParameterServers is OK, and the task has a type and an index.
TfConfig TfConfigOf(const ClusterResolver& cluster) {
  TfConfig config;
  config.cluster = cluster.cluster_spec().as_map();
  config.task_type = *cluster.task_type();
  config.task_index = *cluster.task_id();
  return config;
}

Result<Task> ReadTaskOfProgram(const ClusterResolver& cluster) {
  PSTRAIN_RETURN_IF_ERROR(cluster.CheckParameterServers());
  if (!cluster.task_type() || !cluster.task_id()) {
    return InvalidArgumentError("the cluster does not say which task this process is");
  }
  Result<Task> task = ReadTask(TfConfigOf(cluster));
  if (!task.ok()) {
    return InvalidArgumentError("this process is the task " + *cluster.task_type() + " " +
                                std::to_string(*cluster.task_id()) +
                                " of a cluster, and cannot read its job, of which " +
                                std::string(kJobFileEnv) + " and " + std::string(kRunIdEnv) +
                                " tell; start the program by `pstrain run JOB.yaml` or in a "
                                "cluster, or without TF_CONFIG: " +
                                task.status().message());
  }
  if (task->job.spec().has_program()) return task;
  return FailedPreconditionError(
      task->env.job_file +
      ": the job has no spec.program, and a program of several processes needs a directory for its "
      "run that all of them see; add program: {checkpoint: {directory: DIR}} to spec");
}

}  // namespace

Result<std::unique_ptr<RoleProcess>> OpenProgramProcess(const ClusterResolver& cluster,
                                                        FixedDigests parts) {
  PSTRAIN_ASSIGN_OR_RETURN(Task task, ReadTaskOfProgram(cluster));
  if (opened.exchange(true)) {
    return FailedPreconditionError(
        "this process plays its role in the cluster already; a process has one strategy, or one "
        "server");
  }
  // Where the job gives its replicas room; `main` has no other threads that read the environment.
  setenv("TMPDIR", task.env.scratch_dir.c_str(), 0);
  BlockStopSignals();
  UseSystemResolver();
  KeepFreedMemory();
  JobSettings settings = SettingsOfProgram(task.job, std::move(parts));
  return RoleProcess::Open("pstrain", std::move(task), std::move(settings));
}

JobSettings SettingsOfProgram(const PSTrainingJob& job, FixedDigests parts) {
  parts[kBuild] = Crc32c(BuildIdOfProgram());
  const ProgramSpec& program = job.spec().program();
  return {.spec = job.spec(),
          .checkpoint_directory = program.checkpoint().directory(),
          .peer_timeout = std::chrono::seconds(program.peer_timeout_seconds()),
          .fields = {.checkpoint_directory = "spec.program.checkpoint.directory",
                     .peer_timeout = "spec.program.peerTimeoutSeconds"},
          .program = std::move(parts)};
}

ChiefJob ChiefJobOfProgram(const PSTrainingJob& job) {
  ChiefJob chief;
  chief.starts_over = true;
  const ProgramSpec& program = job.spec().program();
  chief.return_when_lost = program.on_ps_lost() == ProgramSpec::RestartFromMark;
  chief.return_when_repair_fails = program.on_repair_error() == FailedRepair::RestartFromMark;
  chief.checkpoints = ChiefJob::Checkpoints::Of(program.checkpoint());
  if (DesiredReplicas(job.spec(), Role::kEvaluator) > 0) chief.evaluation_deadline = kEvaluation;
  return chief;
}

PsJob PsJobOfProgram() { return {.message_bytes = kMessageBytes}; }

}  // namespace pstrain
