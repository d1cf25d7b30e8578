#include <pstrain/server.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "library/function_registry.h"
#include "library/remote/program_process.h"
#include "library/remote/run_server.h"
#include "library/run.h"
#include "library/step_runner.h"

namespace pstrain {

Result<int> Server::Join() {
  PSTRAIN_ASSIGN_OR_RETURN(FixedDigests parts, program::PartsOfProgram());
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RoleProcess> process,
                           OpenProgramProcess(cluster_, std::move(parts)));
  return RunServer(*process, [](std::uint32_t worker) {
    return std::make_unique<program::StepRunner>(program::FunctionRegistry::Global(), worker);
  });
}

}  // namespace pstrain
