#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "runtime/rpc/pending_calls.h"
#include "runtime/rpc/request_handler.h"
#include "runtime/rpc/transport.h"

namespace pstrain {

/// A transport inside one process: the same promises as GrpcTransport without sockets, for tests
/// and for builds without gRPC. Requests run on the caller's thread, replies on the handler's. Any
/// thread; outlives its transports.
class InProcessNetwork final : public TransportFactory {
 public:
  InProcessNetwork();
  ~InProcessNetwork() override;

  /// Serves `address` from now on; replaces who served it before. The handler outlives Remove.
  void Serve(const std::string& address, RequestHandler& handler);
  /// Calls to `address` are UNAVAILABLE from now on, those outstanding too. No request reaches the
  /// handler any more when it returns.
  void Remove(const std::string& address);

  std::unique_ptr<Transport> Connect(const std::string& address) override;

 private:
  class Link;
  /// One life of a server at an address.
  struct Server;

  std::shared_ptr<Server> Find(const std::string& address);

  std::shared_ptr<PendingCalls> pending_;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Server>> servers_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
