// pstrain-runtime: the training process. TF_CONFIG says which role it has; the agent's environment
// (proto/contract/task_env.h) says where its job, run and numbers are.

#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "base/os/allocator.h"
#include "proto/contract/exit_codes.h"
#include "runtime/chief/run_chief.h"
#include "runtime/cluster/process/role_process.h"
#include "runtime/cluster/process/stop_on_signal.h"
#include "runtime/cluster/process/task.h"
#include "runtime/cluster/role_context.h"
#include "runtime/evaluator/run_evaluator.h"
#include "runtime/model/training/training_jobs.h"
#include "runtime/ps/run_ps.h"
#include "runtime/rpc/system_resolver.h"
#include "runtime/worker/run_worker.h"

namespace pstrain {
namespace {

constexpr const char* kProgram = "pstrain-runtime";

Result<std::unique_ptr<RoleProcess>> OpenProcess() {
  PSTRAIN_ASSIGN_OR_RETURN(Task task, ReadTask());
  PSTRAIN_RETURN_IF_ERROR(CheckHasTraining(task.job));
  JobSettings settings = SettingsOf(task.job);
  return RoleProcess::Open(kProgram, std::move(task), std::move(settings));
}

Result<int> RunRole(RoleProcess& process) {
  PSTRAIN_ASSIGN_OR_RETURN(const RoleContext context, process.Context());
  const PSTrainingJob& job = process.task().job;
  switch (process.task().identity.role) {
    case Role::kChief:
      return RunChief(context, ChiefJobOf(job));
    case Role::kPs:
      return RunPs(context, PsJobOf(job));
    case Role::kWorker:
      return RunWorker(context, WorkerJobOf(job));
    case Role::kEvaluator:
      return RunEvaluator(context, job.spec().training());
  }
  return InternalError("unknown role");
}

int Main() {
  BlockStopSignals();
  const Result<std::unique_ptr<RoleProcess>> process = OpenProcess();
  if (!process.ok()) {
    std::cerr << kProgram << ": " << process.status().message() << '\n';
    return kExitUsage;
  }
  return (*process)->ExitCodeOf(RunRole(**process));
}

}  // namespace
}  // namespace pstrain

int main() {
  pstrain::UseSystemResolver();
  pstrain::KeepFreedMemory();
  return pstrain::Main();
}
