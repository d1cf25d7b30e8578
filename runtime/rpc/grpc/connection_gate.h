#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/os/unique_fd.h"
#include "base/status.h"
#include "runtime/rpc/serve_options.h"

namespace grpc::experimental {
class ExternalConnectionAcceptor;
}  // namespace grpc::experimental

namespace pstrain {

/// A socket that listens on `address` ("host:port"). INVALID_ARGUMENT for a bad address,
/// FAILED_PRECONDITION when the port is in use, otherwise the error of the bind; the message names
/// the address.
Result<UniqueFd> ListenOn(const std::string& address);

/// Accepts the TCP connections of a GrpcServer, at most so many at a time, and hands them to gRPC
/// (ExternalConnectionAcceptor). gRPC 1.51, that of Debian 12, bounds the streams of a connection,
/// but not the connections, and its own listener ends for good when accept finds no free
/// descriptor. What is more than the bound is closed as it comes. A connection counts until gRPC
/// has shut it down: the gate keeps a second descriptor of it, of which epoll says then that both
/// directions are closed. Owner: GrpcServer; Start and Stop from one thread.
class ConnectionGate {
 public:
  /// `most`: connections at a time, or what the process' limit of descriptors leaves room for,
  /// which is raised as far as it may be. `on_refused` is told of each that is refused, by the
  /// gate's thread; may be empty. Errors as ListenOn.
  static Result<std::unique_ptr<ConnectionGate>> Listen(const std::string& address,
                                                        std::size_t most, ErrorObserver on_refused);
  ~ConnectionGate();

  std::uint16_t port() const;
  /// From here on connections are accepted. REQUIRES: the server has been started. Once.
  void Start(std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor);
  /// Listens no more; what was accepted stays gRPC's. To be called before the server shuts down.
  void Stop();

 private:
  ConnectionGate(UniqueFd listener, std::size_t most, ErrorObserver on_refused);
  void Run();
  void Accept();
  bool Watch(int fd, std::uint32_t events);

  UniqueFd listener_;
  UniqueFd stop_;
  UniqueFd events_;
  const std::size_t most_;
  const ErrorObserver on_refused_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  /// Of the gate's thread: the second descriptors of open connections.
  std::map<int, UniqueFd> open_;
  std::thread thread_;
};

}  // namespace pstrain
