#pragma once

#include <memory>
#include <string>

#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/pending_calls.h"
#include "runtime/rpc/transport.h"

namespace pstrain {

/// The data plane over gRPC: a connection is one HTTP/2 connection with one bidirectional stream of
/// frames (runtime/rpc/frame.h). Bodies are sent from the caller's memory without a copy.
/// Addresses: "host:port", "unix:path", "grpc://host:port". A process whose control services and
/// data plane share a port serves both with one GrpcServer (server.h) instead of Serve. Any thread;
/// outlives what it made.
class GrpcTransport final : public Transport {
 public:
  /// `credentials`: null for none; outlive it.
  explicit GrpcTransport(std::shared_ptr<PendingCalls> pending = std::make_shared<PendingCalls>(),
                         const Credentials* credentials = nullptr);
  ~GrpcTransport() override;

  /// Errors as CheckCanListen.
  using Transport::Serve;
  Result<std::unique_ptr<TransportServer>> Serve(const std::string& address,
                                                 RequestHandler& handler,
                                                 const ServeOptions& options) override;
  std::unique_ptr<Connection> Connect(const std::string& address) override;

 private:
  const std::shared_ptr<PendingCalls> pending_;
  const Credentials* const credentials_;
};

}  // namespace pstrain
