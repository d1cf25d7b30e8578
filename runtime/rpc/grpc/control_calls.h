#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "base/status.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/serve_options.h"

namespace pstrain {

/// Serves the control calls of a GrpcServer. Whoever may not call a method makes nobody read its
/// message, and no call waits for ever (docs/design/control-calls.md):
///
///   step                              | refused with                  | the refusal counts as
///   the headers: token, role          | errors of AdmitCaller         | the same
///   the message, whole in time        | DEADLINE_EXCEEDED             | RESOURCE_EXHAUSTED
///   its size                          | RESOURCE_EXHAUSTED            | the same
///   room for it in the queue          | UNAVAILABLE: come again       | RESOURCE_EXHAUSTED
///   it can be read                    | INVALID_ARGUMENT              | the same
///   the handler, on a thread of these | what it says                  | the handler's business
///
/// Owner: GrpcServer. Any thread.
class ControlCalls {
 public:
  /// The services outlive it, and so does `verifier`; null: nobody is asked who they are.
  /// `on_refused` may be empty. REQUIRES: limits.threads > 0 and limits.waiting > 0.
  ControlCalls(const std::vector<const ControlService*>& services, CallerVerifier* verifier,
               const ControlLimits& limits, ErrorObserver on_refused);
  ControlCalls(const ControlCalls&) = delete;
  ControlCalls& operator=(const ControlCalls&) = delete;
  /// REQUIRES: no call is open any more.
  ~ControlCalls();

  /// What serves a call whose headers have come; null: there is no such method.
  grpc::ServerGenericBidiReactor* Open(const grpc::GenericCallbackServerContext& context);

  // For the calls.

  const ControlLimits& limits() const { return limits_; }
  /// Hands work to a thread; false when too much waits for one.
  bool Run(std::function<void()> work) { return work_.TryPush(work); }
  void Refused(const std::string& peer, const Status& error) const {
    if (on_refused_) on_refused_(peer, error);
  }

 private:
  const ControlLimits limits_;
  CallerVerifier* const verifier_;
  const ErrorObserver on_refused_;
  std::map<std::string, const ControlMethod*> methods_;
  BoundedQueue<std::function<void()>> work_;
  std::vector<std::thread> threads_;
};

}  // namespace pstrain
