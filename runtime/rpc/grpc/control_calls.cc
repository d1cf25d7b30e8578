#include "runtime/rpc/grpc/control_calls.h"

#include <grpcpp/alarm.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "runtime/rpc/grpc/call_identity.h"
#include "runtime/rpc/grpc/grpc_status.h"
#include "runtime/rpc/grpc/refused_call.h"

namespace pstrain {
namespace {

/// One call, from its headers to its answer. Either the message or the deadline ends the reading,
/// and whichever does says how the call goes on. Deletes itself when gRPC is done with it, which is
/// after its answer.
class ControlCall final : public grpc::ServerGenericBidiReactor {
 public:
  ControlCall(ControlCalls& calls, const ControlMethod& method, ControlPeer peer)
      : calls_(calls), method_(method), peer_(std::move(peer)) {
    StartRead(&message_);
    // The alarm may go off when this object is gone: only `read_` tells it.
    deadline_.Set(WallNow() + calls_.limits().message_time, [this, read = read_](bool expired) {
      if (expired && !read->exchange(true)) CutOff();
    });
  }

  void OnReadDone(bool ok) override {
    if (read_->exchange(true)) return;
    deadline_.Cancel();
    if (!ok) {
      // Its peer is gone, or has said all without a message. Not counted: a replica that is killed
      // while it calls does the same.
      return Finish({grpc::StatusCode::INVALID_ARGUMENT, method_.name + ": no message came"});
    }
    if (const std::size_t bytes = message_.Length(); bytes > method_.most_bytes) {
      message_.Clear();
      return Refuse(ResourceExhaustedError(method_.name + ": a message of " +
                                           std::to_string(bytes) + " bytes; at most " +
                                           std::to_string(method_.most_bytes)));
    }
    if (!calls_.Run([this] { CarryOut(); })) {
      // Not RESOURCE_EXHAUSTED, for which a replica of the job would end.
      Refuse(StatusCode::kUnavailable,
             method_.name + ": too many calls wait for a thread; try again");
    }
  }

  void OnDone() override { delete this; }

 private:
  void CutOff() {
    Refuse(StatusCode::kDeadlineExceeded, method_.name + ": the message was not there " +
                                              std::to_string(calls_.limits().message_time.count()) +
                                              " ms after the headers");
  }

  void CarryOut() {
    // Both outlive this object, which the answer ends.
    const ControlPeer peer = peer_;
    grpc::ByteBuffer message;
    message.Swap(&message_);
    grpc::ProtoBufferReader request(&message);
    const Status readable =
        method_.carry_out(peer, request, [this](const Result<std::string>& reply) {
          if (!reply.ok()) return Finish(ToGrpcStatus(reply.status()));
          const grpc::Slice slice(*reply);
          reply_ = grpc::ByteBuffer(&slice, 1);
          StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
        });
    if (!readable.ok()) Refuse(readable);
  }

  void Refuse(const Status& error) {
    calls_.Refused(peer_.address, error);
    Finish(ToGrpcStatus(error));
  }
  /// The caller is told that code, which lets it come again; all the same it counts as more than
  /// the job can need.
  void Refuse(StatusCode code, const std::string& why) {
    calls_.Refused(peer_.address, ResourceExhaustedError(why));
    Finish(ToGrpcStatus(Status(code, why)));
  }

  ControlCalls& calls_;
  const ControlMethod& method_;
  const ControlPeer peer_;
  /// The reading has ended.
  const std::shared_ptr<std::atomic<bool>> read_ = std::make_shared<std::atomic<bool>>(false);
  grpc::Alarm deadline_;
  grpc::ByteBuffer message_;
  grpc::ByteBuffer reply_;
};

}  // namespace

ControlCalls::ControlCalls(const std::vector<const ControlService*>& services,
                           CallerVerifier* verifier, const ControlLimits& limits,
                           ErrorObserver on_refused)
    : limits_(limits),
      verifier_(verifier),
      on_refused_(std::move(on_refused)),
      work_(limits.waiting) {
  for (const ControlService* service : services) {
    for (const ControlMethod& method : service->methods()) methods_[method.name] = &method;
  }
  if (methods_.empty()) return;
  for (std::size_t i = 0; i < limits_.threads; ++i) {
    threads_.emplace_back([this] {
      while (const std::optional<std::function<void()>> work = work_.Pop()) (*work)();
    });
  }
}

ControlCalls::~ControlCalls() {
  work_.Close();
  for (std::thread& thread : threads_) thread.join();
}

grpc::ServerGenericBidiReactor* ControlCalls::Open(
    const grpc::GenericCallbackServerContext& context) {
  const auto found = methods_.find(context.method());
  if (found == methods_.end()) return nullptr;
  const ControlMethod& method = *found->second;
  ControlPeer peer{.address = context.peer()};
  Result<std::optional<Caller>> caller =
      AdmitCaller(verifier_, AuthorizationOf(context), method.roles);
  if (!caller.ok()) {
    Refused(peer.address, caller.status());
    return new RefusedCall(caller.status());
  }
  peer.caller = *caller;
  return new ControlCall(*this, method, std::move(peer));
}

}  // namespace pstrain
