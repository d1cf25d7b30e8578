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

class ByteLane;

/// The client's side of the data plane over gRPC: `lanes` connections to one peer, one stream on
/// each; calls take the lanes in turn. Bodies are sent from the caller's memory without a copy.
/// Any thread. Owner: who called ByteChannelFactory::Connect.
class ByteChannel final : public Transport {
 public:
  /// REQUIRES: lanes >= 1.
  ByteChannel(const std::string& address, std::uint32_t lanes,
              const std::shared_ptr<PendingCalls>& pending);
  ~ByteChannel() override;

  void Call(std::uint16_t op, std::vector<Bytes> pieces,
            std::chrono::steady_clock::time_point deadline, ReplyCallback callback) override;
  void Close() override;

 private:
  std::vector<std::unique_ptr<ByteLane>> lanes_;
  std::atomic<std::size_t> next_lane_{0};
};

/// Makes ByteChannels, which share one thread for deadlines.
class ByteChannelFactory final : public TransportFactory {
 public:
  explicit ByteChannelFactory(std::uint32_t lanes = 1);
  ~ByteChannelFactory() override;
  std::unique_ptr<Transport> Connect(const std::string& address) override;

 private:
  const std::uint32_t lanes_;
  std::shared_ptr<PendingCalls> pending_;
};

}  // namespace pstrain
