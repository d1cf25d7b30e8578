#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/rpc/bytes.h"

namespace pstrain {

/// Called exactly once per call, with no lock held, from a thread of the transport or inside Call.
/// Must not block and must not close or destroy the transport. The body is contiguous and aligned
/// to kBytesAlignment.
using ReplyCallback = std::function<void(Result<Bytes> reply)>;

/// The way to one peer of the data plane. Calls are pipelined: any number may be outstanding.
/// Any thread. Implementations: GrpcTransport (gRPC streams), InProcessNetwork.
class Transport {
 public:
  /// Closes.
  virtual ~Transport() = default;

  /// Sends the pieces as one body and answers by the callback. Errors: what the handler answered;
  /// DEADLINE_EXCEEDED, after which the request may still be carried out; UNAVAILABLE when the peer
  /// is not reached or the connection breaks (the same holds; the next call connects again);
  /// CANCELLED after Close.
  virtual void Call(std::uint16_t op, std::vector<Bytes> pieces,
                    std::chrono::steady_clock::time_point deadline, ReplyCallback callback) = 0;

  /// Fails what is outstanding with CANCELLED; when it returns, no callback runs or will run.
  /// Idempotent. Not from a callback.
  virtual void Close() = 0;
};

/// Makes the way to a peer. Any thread. Outlives the transports it made.
class TransportFactory {
 public:
  virtual ~TransportFactory() = default;
  /// Does not connect yet: the first call does. `address`: host:port, or unix:path.
  virtual std::unique_ptr<Transport> Connect(const std::string& address) = 0;
};

}  // namespace pstrain
