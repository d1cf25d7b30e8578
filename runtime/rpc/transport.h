#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/rpc/bytes.h"
#include "runtime/rpc/request_handler.h"
#include "runtime/rpc/serve_options.h"

namespace pstrain {

/// The door between the data plane and what carries it. An implementation is a folder beside this
/// file and a line in the table of transports.cc; transports.h has the syntax of addresses.
/// Every implementation keeps the promises below: tests/runtime/rpc/transport_test.cc runs over all
/// of them.

/// Called exactly once per call, with no lock held, from a thread of the transport or inside Call.
/// Must not block and must not close or destroy the connection. The body is contiguous and aligned
/// to kBytesAlignment.
using ReplyCallback = std::function<void(Result<Bytes> reply)>;

/// The way to one peer. Calls are pipelined: any number may be outstanding, and replies come in any
/// order. A connection outlives the peer: calls fail while nobody serves the address and succeed
/// again when somebody does. Any thread.
class Connection {
 public:
  /// Closes.
  virtual ~Connection() = default;

  /// Sends the parts as one body and answers by the callback. Errors: what the handler answered;
  /// DEADLINE_EXCEEDED, after which the request may still be carried out; UNAVAILABLE when the peer
  /// is not reached or goes away (the same holds; the next call connects again); CANCELLED after
  /// Close.
  virtual void Call(std::uint16_t op, std::vector<Bytes> parts,
                    std::chrono::steady_clock::time_point deadline, ReplyCallback callback) = 0;

  /// Fails what is outstanding with CANCELLED; when it returns, no callback runs or will run.
  /// Idempotent. Not from a callback.
  virtual void Close() = 0;
};

/// A handler that is being served. Any thread.
class TransportServer {
 public:
  /// Stops: no request reaches the handler any more, and what peers wait for fails with
  /// UNAVAILABLE. Not from the handler.
  virtual ~TransportServer() = default;

  /// What a peer connects to: the address given to Serve, but with the port that was taken where
  /// that one said port 0.
  virtual const std::string& address() const = 0;
};

/// Makes both ends of the data plane. Any thread. Outlives the servers and the connections that it
/// made.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Serves the address until the server is destroyed. `handler` outlives the server. Where both
  /// ends are one process, of which nobody has to be afraid, the options may be ignored.
  /// INVALID_ARGUMENT for an address that is none of this transport; FAILED_PRECONDITION when
  /// somebody serves it already.
  virtual Result<std::unique_ptr<TransportServer>> Serve(const std::string& address,
                                                         RequestHandler& handler,
                                                         const ServeOptions& options) = 0;
  /// The same, and any peer may ask for anything: for tests and benches.
  Result<std::unique_ptr<TransportServer>> Serve(const std::string& address,
                                                 RequestHandler& handler) {
    return Serve(address, handler, ServeOptions{});
  }

  /// Does not connect yet: the first call does. A bad address makes every call fail.
  virtual std::unique_ptr<Connection> Connect(const std::string& address) = 0;
};

}  // namespace pstrain
