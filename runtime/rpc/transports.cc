#include "runtime/rpc/transports.h"

#ifdef PSTRAIN_WITH_GRPC
#include "runtime/rpc/grpc/grpc_transport.h"
#endif
#include "runtime/rpc/in_process/in_process_transport.h"

namespace pstrain {
namespace {

#ifdef PSTRAIN_WITH_GRPC
std::unique_ptr<Transport> MakeGrpc(const std::shared_ptr<PendingCalls>& pending,
                                    const Credentials* credentials) {
  return std::make_unique<GrpcTransport>(pending, credentials);
}
#endif

/// Both ends are one process: nobody has to show who they are.
std::unique_ptr<Transport> MakeInProcess(const std::shared_ptr<PendingCalls>& pending,
                                         const Credentials* /*credentials*/) {
  return std::make_unique<InProcessTransport>(pending);
}

// The first line takes the addresses without a scheme: TF_CONFIG has host:port.
constexpr TransportLine kTable[] = {
#ifdef PSTRAIN_WITH_GRPC
    {"grpc", MakeGrpc},
#endif
    {"in-process", MakeInProcess},
};

}  // namespace

std::span<const TransportLine> TransportTable() { return kTable; }

Transports::Transports(const Credentials* credentials) {
  const auto pending = std::make_shared<PendingCalls>();
  for (const TransportLine& line : kTable) transports_.push_back(line.make(pending, credentials));
}

Transports::~Transports() = default;

Result<std::unique_ptr<TransportServer>> Transports::Serve(const std::string& address,
                                                           RequestHandler& handler,
                                                           const ServeOptions& options) {
  return Of(address).Serve(address, handler, options);
}

std::unique_ptr<Connection> Transports::Connect(const std::string& address) {
  return Of(address).Connect(address);
}

Transport& Transports::Of(std::string_view address) const {
  // "://" and not ":", because a host may be called as a scheme is: "grpc:2222".
  const std::size_t end = address.find("://");
  for (std::size_t i = 0; i < transports_.size() && end != std::string_view::npos; ++i) {
    if (kTable[i].scheme == address.substr(0, end)) return *transports_[i];
  }
  return *transports_.front();
}

}  // namespace pstrain
