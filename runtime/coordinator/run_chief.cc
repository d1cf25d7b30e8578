#include "runtime/coordinator/run_chief.h"

#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "runtime/coordinator/chief.h"
#include "runtime/coordinator/coordinator_service.h"
#include "runtime/rpc/server.h"

namespace pstrain {

Result<int> RunChief(const RoleContext& context) {
  // Before an epoch is taken, which would end a chief that runs.
  PSTRAIN_RETURN_IF_ERROR(CheckCanListen(context.listen_address));
  PSTRAIN_ASSIGN_OR_RETURN(ChiefSetup setup, PrepareChief(context));
  if (setup.directory.HasResult()) {
    LogInfo("chief", "the run is finished already", {{"run", setup.directory.path()}});
    return kExitSuccess;
  }
  LogInfo("chief", "run opened",
          {{"run", setup.directory.path()},
           {"chief_epoch", setup.directory.chief_epoch()},
           {"batches_per_epoch", setup.run.batches_per_epoch()},
           {"from_cut", setup.cut ? CutName(setup.cut->id) : std::string("none")}});
  Chief chief(context, std::move(setup));
  CoordinatorService service(chief);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<GrpcServer> server,
                           GrpcServer::Start(context.listen_address, {.services = {&service}}));
  Result<int> outcome = chief.Run();
  server->Shutdown(std::chrono::milliseconds(500));
  return outcome;
}

}  // namespace pstrain
