#include <pstrain/sidecar_evaluator.h>

#include <memory>

#include "library/remote/evaluator/sidecar.h"
#include "library/remote/program_process.h"
#include "library/run.h"
#include "proto/contract/roles.h"

namespace pstrain {
namespace {

Status CheckIsEvaluator(const ClusterResolver& cluster) {
  const std::string type = cluster.task_type().value_or("");
  if (type == RoleName(Role::kEvaluator)) return OkStatus();
  return FailedPreconditionError(
      "a SidecarEvaluator is the evaluator of a cluster, and this process is " +
      (type.empty() ? "no task of one" : "the task " + type) +
      "; start the program by `pstrain run JOB.yaml` or in a cluster, and make it where "
      "cluster.task_type() is \"evaluator\"");
}

}  // namespace

Result<int> SidecarEvaluator::Start() {
  if (!evaluate_) return InvalidArgumentError("a SidecarEvaluator needs a function that evaluates");
  PSTRAIN_RETURN_IF_ERROR(CheckIsEvaluator(cluster_));
  PSTRAIN_ASSIGN_OR_RETURN(FixedDigests parts, program::PartsOfProgram());
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RoleProcess> process,
                           OpenProgramProcess(cluster_, std::move(parts)));
  PSTRAIN_ASSIGN_OR_RETURN(const RoleContext context, process->Context());
  program::Sidecar sidecar(evaluate_, options_, context.stop);
  return EvaluatorLoop(context).Run(
      [&sidecar](const std::string& folder) { return sidecar.Evaluate(folder); });
}

}  // namespace pstrain
