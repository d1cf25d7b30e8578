#include "runtime/rpc/grpc/grpc_transport.h"

#include <string_view>
#include <utility>

#include "runtime/rpc/grpc/grpc_connection.h"
#include "runtime/rpc/grpc/server.h"

namespace pstrain {
namespace {

class GrpcTransportServer final : public TransportServer {
 public:
  explicit GrpcTransportServer(std::unique_ptr<GrpcServer> server) : server_(std::move(server)) {}
  const std::string& address() const override { return server_->address(); }

 private:
  const std::unique_ptr<GrpcServer> server_;
};

/// As gRPC itself reads addresses, which has no scheme of that name.
std::string WithoutScheme(const std::string& address) {
  constexpr std::string_view kScheme = "grpc://";
  return address.starts_with(kScheme) ? address.substr(kScheme.size()) : address;
}

}  // namespace

GrpcTransport::GrpcTransport(std::shared_ptr<PendingCalls> pending, const Credentials* credentials)
    : pending_(std::move(pending)), credentials_(credentials) {}

GrpcTransport::~GrpcTransport() = default;

Result<std::unique_ptr<TransportServer>> GrpcTransport::Serve(const std::string& address,
                                                              RequestHandler& handler,
                                                              const ServeOptions& options) {
  PSTRAIN_ASSIGN_OR_RETURN(
      std::unique_ptr<GrpcServer> server,
      GrpcServer::Start(WithoutScheme(address),
                        {.services = {}, .data_plane = &handler, .options = options}));
  return std::unique_ptr<TransportServer>(std::make_unique<GrpcTransportServer>(std::move(server)));
}

std::unique_ptr<Connection> GrpcTransport::Connect(const std::string& address) {
  return std::make_unique<GrpcConnection>(WithoutScheme(address), pending_, credentials_);
}

}  // namespace pstrain
