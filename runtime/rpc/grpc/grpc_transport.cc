#include "runtime/rpc/grpc/grpc_transport.h"

#include <utility>

#include "runtime/rpc/grpc/grpc_connection.h"

namespace pstrain {

GrpcTransport::GrpcTransport(const std::string& address, std::uint32_t connections,
                             const std::shared_ptr<PendingCalls>& pending) {
  for (std::uint32_t i = 0; i < connections; ++i) {
    connections_.push_back(std::make_unique<GrpcConnection>(address, pending));
  }
}

GrpcTransport::~GrpcTransport() { Close(); }

void GrpcTransport::Call(std::uint16_t op, std::vector<Bytes> pieces,
                         std::chrono::steady_clock::time_point deadline, ReplyCallback callback) {
  const std::size_t connection =
      next_lane_.fetch_add(1, std::memory_order_relaxed) % connections_.size();
  connections_[connection]->Call(op, std::move(pieces), deadline, std::move(callback));
}

void GrpcTransport::Close() {
  for (const auto& connection : connections_) connection->Close();
}

GrpcTransportFactory::GrpcTransportFactory(std::uint32_t connections)
    : connections_(connections), pending_(std::make_shared<PendingCalls>()) {}

GrpcTransportFactory::~GrpcTransportFactory() = default;

std::unique_ptr<Transport> GrpcTransportFactory::Connect(const std::string& address) {
  return std::make_unique<GrpcTransport>(address, connections_, pending_);
}

}  // namespace pstrain
