#include "runtime/chief/run_chief.h"

#include <utility>

#include "base/log.h"
#include "base/os/files.h"
#include "runtime/chief/chief.h"
#include "runtime/chief/chief_service.h"
#include "runtime/rpc/grpc/server.h"

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
           {"chief_term", setup.directory.chief_term()},
           {"batches_per_epoch", setup.run.batches_per_epoch()},
           {"from_checkpoint",
            setup.checkpoint ? CheckpointName(setup.checkpoint->id) : std::string("none")}});
  Chief chief(context, std::move(setup));
  ChiefService service(chief);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<GrpcServer> server,
                           GrpcServer::Start(context.listen_address, {.services = {&service}}));
  Result<int> outcome = chief.Run();
  server->Shutdown(std::chrono::milliseconds(500));
  return outcome;
}

}  // namespace pstrain
