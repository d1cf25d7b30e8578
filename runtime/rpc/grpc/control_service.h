#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/contract/roles.h"
#include "runtime/rpc/identity/caller.h"

namespace pstrain {

/// Who makes a control call.
struct ControlPeer {
  /// As gRPC names peers, e.g. "ipv4:10.0.0.1:4711".
  std::string address = {};
  /// What its token proves; nothing where nobody is asked.
  std::optional<Caller> caller = std::nullopt;
};

/// Answers a call with the bytes of its reply, or an error. Called once, from any thread.
using ControlAnswer = std::function<void(Result<std::string> reply)>;

/// A method of the control plane, as a server needs it: what it looks at before it reads a call's
/// message, and what it does then. A value.
struct ControlMethod {
  /// As it travels, e.g. "/pstrain.ChiefControl/Hello".
  std::string name;
  /// Whose replicas may call it.
  std::vector<Role> roles;
  /// Of a request; a larger one is refused.
  std::uint64_t most_bytes = 0;
  /// Reads the request and does what it says; may block. `answer` may be called before this
  /// returns, and later. INVALID_ARGUMENT: the request cannot be read, and `answer` is not called.
  std::function<Status(const ControlPeer& peer, google::protobuf::io::ZeroCopyInputStream& request,
                       const ControlAnswer& answer)>
      carry_out;
};

/// A service of the control plane (proto/contract/control.proto): a table of its methods, without
/// gRPC, so that whatever carries calls can serve it. A subclass names each method and its handler
/// in its constructor; handlers are called from any thread, several at a time. Outlives the server
/// that it is given to.
class ControlService {
 public:
  ControlService(const ControlService&) = delete;
  ControlService& operator=(const ControlService&) = delete;
  virtual ~ControlService() = default;

  const std::vector<ControlMethod>& methods() const { return methods_; }

 protected:
  /// `name`: of the proto file, e.g. "pstrain.ChiefControl".
  explicit ControlService(std::string name) : name_(std::move(name)) {}

  /// A method that its handler answers when it returns.
  template <typename Service, typename Request, typename Reply>
  void Serve(const std::string& method, std::vector<Role> roles, std::uint64_t most_bytes,
             Status (Service::*handler)(const ControlPeer&, const Request&, Reply*)) {
    Add<Request>(method, std::move(roles), most_bytes,
                 [this, handler](const ControlPeer& peer, const Request& request,
                                 const ControlAnswer& answer) {
                   Reply reply;
                   const Status status =
                       (static_cast<Service*>(this)->*handler)(peer, request, &reply);
                   if (!status.ok()) return answer(status);
                   answer(reply.SerializeAsString());
                 });
  }

  /// A method with an empty reply, whose handler keeps the right to answer: it calls `done` once,
  /// perhaps before it returns; not at all when it returns an error.
  template <typename Service, typename Request>
  void ServeLater(const std::string& method, std::vector<Role> roles, std::uint64_t most_bytes,
                  Status (Service::*handler)(const ControlPeer&, const Request&,
                                             std::function<void()> done)) {
    Add<Request>(method, std::move(roles), most_bytes,
                 [this, handler](const ControlPeer& peer, const Request& request,
                                 const ControlAnswer& answer) {
                   const Status status = (static_cast<Service*>(this)->*handler)(
                       peer, request, [answer] { answer(std::string()); });
                   if (!status.ok()) answer(status);
                 });
  }

 private:
  template <typename Request, typename CarryOut>
  void Add(const std::string& method, std::vector<Role> roles, std::uint64_t most_bytes,
           CarryOut carry_out) {
    const std::string name = "/" + name_ + "/" + method;
    methods_.push_back({name, std::move(roles), most_bytes,
                        [name, carry_out](const ControlPeer& peer,
                                          google::protobuf::io::ZeroCopyInputStream& message,
                                          const ControlAnswer& answer) -> Status {
                          Request request;
                          if (!request.ParseFromZeroCopyStream(&message)) {
                            return InvalidArgumentError(name + ": the message is no " +
                                                        Request().GetTypeName());
                          }
                          carry_out(peer, request, answer);
                          return OkStatus();
                        }});
  }

  const std::string name_;
  std::vector<ControlMethod> methods_;
};

/// What serves control services at an address: gRPC, or the control plane of one process. One
/// thread; destroyed by its owner, as Shutdown without grace.
class ControlServer {
 public:
  virtual ~ControlServer() = default;
  /// Takes no more calls, and waits for those in flight, `grace` long where that can be limited.
  /// Idempotent.
  virtual void Shutdown(std::chrono::milliseconds grace) = 0;
};

}  // namespace pstrain
