#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "runtime/rpc/grpc/control_service.h"

namespace pstrain {

/// The control plane inside one process, without sockets: who calls finds the services that this
/// object serves, by the text of an address. Calls and replies travel as bytes, so that neither end
/// sees the other's memory; nobody is asked who they are. A handler runs on its caller's thread.
/// Any thread; outlives the servers that it made.
class InProcessControl {
 public:
  InProcessControl() = default;
  InProcessControl(const InProcessControl&) = delete;
  InProcessControl& operator=(const InProcessControl&) = delete;

  /// Serves until the server is destroyed or shut down, which waits for handlers that run.
  /// FAILED_PRECONDITION: somebody serves the address already. `services` outlive the server.
  Result<std::unique_ptr<ControlServer>> Serve(const std::string& address,
                                               std::vector<const ControlService*> services);

  /// What a handler answers. UNAVAILABLE: nobody serves the address. DEADLINE_EXCEEDED: what the
  /// handler answers later has not come. CANCELLED: `stop` was requested meanwhile. UNIMPLEMENTED:
  /// no service has that method.
  Result<std::string> Call(const std::string& address, const std::string& method,
                           const std::string& request, std::chrono::milliseconds deadline,
                           const std::stop_token& stop = {});

 private:
  class Server;
  /// What a server shares with the calls that are inside its handlers.
  struct Served;

  std::shared_ptr<Served> Find(const std::string& address);
  void Remove(const std::string& address);

  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Served>> served_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
