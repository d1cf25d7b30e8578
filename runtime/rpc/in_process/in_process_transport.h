#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "runtime/rpc/pending_calls.h"
#include "runtime/rpc/transport.h"

namespace pstrain {

/// A transport inside one process, without sockets: for tests and for builds without gRPC. Servers
/// are found by connections of the same object, under the whole text of the address. Requests run
/// on the caller's thread, replies on the handler's; a body is copied once, as a real transport
/// does, so that neither end sees the other's memory. Any thread; outlives what it made.
class InProcessTransport final : public Transport {
 public:
  explicit InProcessTransport(
      std::shared_ptr<PendingCalls> pending = std::make_shared<PendingCalls>());
  ~InProcessTransport() override;

  using Transport::Serve;
  Result<std::unique_ptr<TransportServer>> Serve(const std::string& address,
                                                 RequestHandler& handler,
                                                 const ServeOptions& options) override;
  std::unique_ptr<Connection> Connect(const std::string& address) override;

 private:
  class Link;
  class Server;
  /// What a server shares with the calls that are inside its handler.
  struct Served;

  /// Null when nobody serves the address.
  std::shared_ptr<Served> Find(const std::string& address);
  void Remove(const std::string& address);

  const std::shared_ptr<PendingCalls> pending_;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Served>> served_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
