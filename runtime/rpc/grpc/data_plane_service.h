#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/rpc/request_handler.h"
#include "runtime/rpc/serve_options.h"

namespace pstrain {

/// The gRPC method of the data plane: a bidirectional stream of frames (runtime/rpc/frame.h).
inline constexpr char kDataPlaneMethod[] = "/pstrain.DataPlane/Stream";

/// The server's side of the data plane: one stream per client connection, requests to the handler,
/// replies back in the order in which they are given. A frame that cannot be read ends its stream
/// with INVALID_ARGUMENT. Streams may end while the handler still works on their requests. Any
/// thread. Owner: GrpcServer.
class DataPlaneService final {
 public:
  /// `handler` outlives the server. `on_error` may be empty; so may `admit`: then anybody may.
  explicit DataPlaneService(RequestHandler& handler, DataPlaneLimits limits = {},
                            ErrorObserver on_error = nullptr, StreamAdmission admit = nullptr)
      : handler_(handler),
        limits_(limits),
        on_error_(std::move(on_error)),
        admit_(std::move(admit)) {}

  /// What serves a call of kDataPlaneMethod whose headers have come.
  grpc::ServerGenericBidiReactor* Open(const grpc::GenericCallbackServerContext& context);

 private:
  RequestHandler& handler_;
  const DataPlaneLimits limits_;
  const ErrorObserver on_error_;
  const StreamAdmission admit_;
  const std::shared_ptr<std::atomic<std::uint32_t>> open_ =
      std::make_shared<std::atomic<std::uint32_t>>(0);
};

}  // namespace pstrain
