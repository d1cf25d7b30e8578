#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "runtime/cluster/role_context.h"
#include "runtime/rpc/chief_client.h"
#include "runtime/rpc/grpc/server.h"
#include "runtime/rpc/in_process/in_process_control.h"
#include "runtime/rpc/in_process/in_process_transport.h"
#include "runtime/rpc/transports.h"

namespace pstrain {

/// What joins roles that are threads of one process: they share one of these, RoleContext::network.
/// Any thread; outlives the roles.
struct LocalNetwork {
  InProcessTransport data;
  InProcessControl control;
};

/// Serves at context.listen_address: over gRPC, or to the roles of this process. Within one process
/// nobody has to be afraid of anybody: of `served`, only the services count.
Result<std::unique_ptr<ControlServer>> ServeControl(const RoleContext& context,
                                                    const GrpcServer::Services& served);

/// The way to the chief of that role.
std::unique_ptr<ChiefCalls> ConnectToChief(const RoleContext& context);

/// The way of the chief to a ps.
std::unique_ptr<PsCalls> ConnectToPs(const RoleContext& context, const std::string& address);

/// The transport of a role's data plane: that of its process, or one of its own. Any thread.
class RoleTransport {
 public:
  explicit RoleTransport(const RoleContext& context);
  Transport& operator*() { return context_transport_ != nullptr ? *context_transport_ : *own_; }

 private:
  Transport* context_transport_ = nullptr;
  std::optional<Transports> own_;
};

}  // namespace pstrain
