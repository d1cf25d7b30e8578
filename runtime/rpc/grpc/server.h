#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/serve_options.h"

namespace grpc {
class CallbackGenericService;
class Server;
}  // namespace grpc

namespace pstrain {

class CallerVerifier;
class ConnectionGate;
class RequestHandler;

/// OK when a server could listen on `address` ("host:port") now. INVALID_ARGUMENT for a bad
/// address, FAILED_PRECONDITION when the port is in use, otherwise the error of the bind; the
/// message names the address. "unix:path" is not looked at: gRPC replaces a socket that is there.
Status CheckCanListen(const std::string& address);

/// A gRPC server at one address, with the settings that the clients of channel.h expect: control
/// services, the data plane, or both on one port. Whoever may not make a call is refused before
/// anything of its messages is read; other methods are UNIMPLEMENTED. Owned by the role; Start and
/// Shutdown from one thread.
class GrpcServer final : public ControlServer {
 public:
  struct Services {
    /// Not owned; outlive the server.
    std::vector<const ControlService*> services = {};
    /// Says who makes a control call; null: nobody is asked. Not owned; outlives the server.
    CallerVerifier* verifier = nullptr;
    /// Answers the data plane's requests; null: no data plane. Not owned; outlives the server.
    RequestHandler* data_plane = nullptr;
    /// The bounds of a message and of connections, the times and the encryption hold for the
    /// control services too, the rest for the data plane.
    ServeOptions options = {};
    ControlLimits control = {};
  };

  /// Listens and serves. `address`: "host:port" or "unix:path"; port 0 takes a free one.
  /// Errors as CheckCanListen.
  static Result<std::unique_ptr<GrpcServer>> Start(const std::string& address,
                                                   const Services& services);
  /// As Shutdown without grace.
  ~GrpcServer() override;

  /// The address given to Start, with the port that it listens on.
  const std::string& address() const { return address_; }
  /// 0 for "unix:path".
  std::uint16_t port() const { return port_; }

  /// Stops listening immediately, lets calls in flight end until `grace` is over, then cancels
  /// them, and waits for the answers to control calls. Idempotent.
  void Shutdown(std::chrono::milliseconds grace) override;

 private:
  GrpcServer();

  /// Null for "unix:path".
  std::unique_ptr<ConnectionGate> gate_;
  /// What serves each call.
  std::unique_ptr<grpc::CallbackGenericService> calls_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
};

}  // namespace pstrain
