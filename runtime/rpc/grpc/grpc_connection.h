#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/pending_calls.h"
#include "runtime/rpc/transport.h"

namespace grpc {
class Channel;
}

namespace pstrain {

class GrpcStream;

/// One gRPC channel, and at a time one stream over it, which is opened by the first call and again
/// by the first call after it broke (the gRPC channel holds back reconnects). Any thread. Owner:
/// who called GrpcTransport::Connect.
///
///   state   Call                      stream ends               Close
///   idle    opens, sends -> open      -                         -> closed
///   open    sends                     fails its calls -> idle   cancels, waits -> closed
///   closed  CANCELLED                 -                         -
class GrpcConnection final : public Connection {
 public:
  GrpcConnection(const std::string& address, std::shared_ptr<PendingCalls> pending,
                 const Credentials* credentials);
  /// Closes.
  ~GrpcConnection() override;

  void Call(std::uint16_t op, std::vector<Bytes> parts,
            std::chrono::steady_clock::time_point deadline, ReplyCallback callback) override;
  void Close() override;

 private:
  const std::string address_;
  const std::shared_ptr<PendingCalls> pending_;
  const Credentials* const credentials_;
  const std::shared_ptr<grpc::Channel> channel_;
  Mutex mutex_;
  std::shared_ptr<GrpcStream> stream_ PSTRAIN_GUARDED_BY(mutex_);
  /// Broken, but perhaps not done yet.
  std::vector<std::shared_ptr<GrpcStream>> retired_ PSTRAIN_GUARDED_BY(mutex_);
  bool closed_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

}  // namespace pstrain
