#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace grpc {
class CallbackGenericService;
class Server;
class Service;
}  // namespace grpc

namespace pstrain {

/// OK when a server could listen on `address` ("host:port") now. INVALID_ARGUMENT for a bad
/// address, FAILED_PRECONDITION when the port is in use, otherwise the error of the bind; the
/// message names the address.
Status CheckCanListen(const std::string& address);

/// A gRPC server at one address, with the settings that the clients of channel.h expect. Owned by
/// the role; Start and Shutdown from one thread.
class GrpcServer {
 public:
  struct Services {
    /// Not owned; outlive the server.
    std::vector<grpc::Service*> services;
    /// The data plane, or null. Not owned; outlives the server.
    grpc::CallbackGenericService* generic = nullptr;
  };

  /// Listens and serves. `address`: "host:port"; port 0 takes a free one. Errors as
  /// CheckCanListen.
  static Result<std::unique_ptr<GrpcServer>> Start(const std::string& address,
                                                   const Services& services);
  /// As Shutdown without grace.
  ~GrpcServer();

  /// The port that it listens on.
  std::uint16_t port() const { return port_; }

  /// Stops listening at once, lets calls in flight end until `grace` is over, then cancels them,
  /// and waits for the handlers of unary calls. Idempotent.
  void Shutdown(std::chrono::milliseconds grace);

 private:
  GrpcServer(std::unique_ptr<grpc::Server> server, std::uint16_t port);

  std::unique_ptr<grpc::Server> server_;
  std::uint16_t port_;
  bool stopped_ = false;
};

}  // namespace pstrain
