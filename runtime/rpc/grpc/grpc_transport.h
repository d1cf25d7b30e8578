#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/rpc/pending_calls.h"
#include "runtime/rpc/transport.h"

namespace pstrain {

class GrpcConnection;

/// The client's side of the data plane over gRPC: `lanes` connections to one peer, one stream on
/// each; calls take the lanes in turn. Bodies are sent from the caller's memory without a copy.
/// Any thread. Owner: who called GrpcTransportFactory::Connect.
class GrpcTransport final : public Transport {
 public:
  /// REQUIRES: lanes >= 1.
  GrpcTransport(const std::string& address, std::uint32_t connections,
                const std::shared_ptr<PendingCalls>& pending);
  ~GrpcTransport() override;

  void Call(std::uint16_t op, std::vector<Bytes> pieces,
            std::chrono::steady_clock::time_point deadline, ReplyCallback callback) override;
  void Close() override;

 private:
  std::vector<std::unique_ptr<GrpcConnection>> connections_;
  std::atomic<std::size_t> next_lane_{0};
};

/// Makes GrpcTransports, which share one thread for deadlines.
class GrpcTransportFactory final : public TransportFactory {
 public:
  explicit GrpcTransportFactory(std::uint32_t connections = 1);
  ~GrpcTransportFactory() override;
  std::unique_ptr<Transport> Connect(const std::string& address) override;

 private:
  const std::uint32_t connections_;
  std::shared_ptr<PendingCalls> pending_;
};

}  // namespace pstrain
