#include "library/remote/run_server.h"

#include <string>

#include "library/remote/program_process.h"
#include "library/worker/run_closures.h"
#include "proto/contract/roles.h"
#include "runtime/ps/run_ps.h"

namespace pstrain {

Result<int> RunServer(
    RoleProcess& process,
    const std::function<std::unique_ptr<ClosureRunner>(std::uint32_t worker)>& create_runner) {
  const Role role = process.task().identity.role;
  if (role != Role::kPs && role != Role::kWorker) {
    return FailedPreconditionError("a server is a ps or a worker, and this task is the " +
                                   std::string(RoleName(role)) +
                                   (role == Role::kChief ? "; make a ParameterServerStrategy there"
                                                         : "; start a SidecarEvaluator there"));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const RoleContext context, process.Context());
  if (role == Role::kPs) return RunPs(context, PsJobOfProgram());
  const ProgramSpec& program = process.task().job.spec().program();
  return RunClosures(
      context,
      {.create_runner = [&context, &create_runner] { return create_runner(context.index); },
       .closures = static_cast<std::uint32_t>(program.closures_per_worker()),
       .starts_over = true});
}

}  // namespace pstrain
