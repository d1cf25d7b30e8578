#include "runtime/rpc/grpc/data_plane_service.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "runtime/rpc/grpc/call_identity.h"
#include "runtime/rpc/grpc/frame_buffer.h"
#include "runtime/rpc/grpc/grpc_status.h"
#include "runtime/rpc/grpc/refused_call.h"

namespace pstrain {
namespace {

/// The sending half of a stream: what responders keep when the stream is gone. `reactor` is
/// touched only by who set `writing` or `finished`; the reactor lives until both are settled.
class ReplyQueue {
 public:
  ReplyQueue(grpc::ServerGenericBidiReactor* reactor, std::uint32_t most_unanswered)
      : reactor_(reactor), most_unanswered_(most_unanswered) {}

  /// A request has come. False: the next one is read when Written says so, and not before.
  bool Took() {
    MutexLock lock(mutex_);
    paused_ = ++unanswered_ >= most_unanswered_;
    return !paused_;
  }

  /// A write has ended. True: the next request is to be read now.
  bool Written() {
    MutexLock lock(mutex_);
    writing_ = false;
    --unanswered_;
    return std::exchange(paused_, false);
  }

  void Send(grpc::ByteBuffer message) {
    {
      MutexLock lock(mutex_);
      if (ended_) return;
      queue_.push_back(std::move(message));
    }
    WriteNext();
  }

  /// Starts the next write, or finishes the stream, if it is time.
  void WriteNext() {
    bool finish = false;
    grpc::Status status;
    {
      MutexLock lock(mutex_);
      if (writing_ || finished_) return;
      if (ended_) {
        finish = finished_ = true;
        status = status_;
      } else if (queue_.empty()) {
        return;
      } else {
        writing_ = true;
        current_.Swap(&queue_.front());
        queue_.pop_front();
      }
    }
    if (finish) {
      reactor_->Finish(status);
    } else {
      reactor_->StartWrite(&current_);
    }
  }

  /// No more replies go out; the stream finishes as soon as no write is under way.
  void End(const grpc::Status& status) {
    std::deque<grpc::ByteBuffer> dropped;
    {
      MutexLock lock(mutex_);
      ended_ = true;
      status_ = status;
      dropped.swap(queue_);
    }
    WriteNext();
  }

 private:
  grpc::ServerGenericBidiReactor* const reactor_;
  const std::uint32_t most_unanswered_;
  grpc::ByteBuffer current_;  // being written
  Mutex mutex_;
  std::deque<grpc::ByteBuffer> queue_ PSTRAIN_GUARDED_BY(mutex_);
  /// Requests whose replies have not gone out.
  std::uint32_t unanswered_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  /// Nothing is being read: a reply has to go out first.
  bool paused_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool writing_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool ended_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool finished_ PSTRAIN_GUARDED_BY(mutex_) = false;
  grpc::Status status_ PSTRAIN_GUARDED_BY(mutex_);
};

/// Who is at the other end of a stream, what it may ask, and who hears of what it is refused.
struct Origin {
  Status Check(std::uint16_t op) const { return may ? may(op) : OkStatus(); }
  void Report(const Status& error) const {
    if (on_error) on_error(peer, error);
  }
  std::string peer;
  ErrorObserver on_error;
  OpCheck may;
};

/// One stream of one client connection. Deletes itself when gRPC is done with it.
class ServerStream final : public grpc::ServerGenericBidiReactor {
 public:
  /// `open` is one less when the stream is gone.
  ServerStream(RequestHandler& handler, std::uint32_t most_unanswered, Origin origin,
               std::shared_ptr<std::atomic<std::uint32_t>> open)
      : handler_(handler),
        origin_(std::make_shared<const Origin>(std::move(origin))),
        open_(std::move(open)),
        replies_(std::make_shared<ReplyQueue>(this, most_unanswered)) {
    StartRead(&incoming_);
  }
  ~ServerStream() override { open_->fetch_sub(1, std::memory_order_relaxed); }

  void OnReadDone(bool ok) override {
    if (!ok) return replies_->End(grpc::Status::OK);
    Result<ReceivedFrame> frame = ReadFrameBuffer(incoming_);
    if (!frame.ok()) return Break(frame.status());
    if ((frame->header.flags & kFrameReply) != 0) {
      return Break(InvalidArgumentError("a reply came as a request"));
    }
    const FrameHeader request = frame->header;
    if (const Status allowed = origin_->Check(request.op); !allowed.ok()) return Break(allowed);
    Responder responder([queue = replies_, origin = origin_, request](const Status& status,
                                                                      std::vector<Bytes> parts) {
      FrameHeader reply = request;
      reply.flags = kFrameReply;
      reply.status = status.code();
      if (!status.ok()) {
        origin->Report(status);
        parts = {Bytes::FromString(status.message())};
      }
      queue->Send(MakeFrameBuffer(reply, std::move(parts)));
    });
    const bool read_on = replies_->Took();
    handler_.OnRequest(request.op, std::move(frame->body), std::move(responder));
    if (read_on) StartRead(&incoming_);
  }

  void OnWriteDone(bool /*ok*/) override {
    // After a failed write the read fails too, and ends the stream. While nothing is being read,
    // nobody but this ends it.
    const bool read_on = replies_->Written();
    replies_->WriteNext();
    if (read_on) StartRead(&incoming_);
  }

  void OnDone() override { delete this; }

 private:
  void Break(const Status& error) {
    origin_->Report(error);
    replies_->End(ToGrpcStatus(error));
  }

  RequestHandler& handler_;
  const std::shared_ptr<const Origin> origin_;
  const std::shared_ptr<std::atomic<std::uint32_t>> open_;
  grpc::ByteBuffer incoming_;
  const std::shared_ptr<ReplyQueue> replies_;
};

}  // namespace

grpc::ServerGenericBidiReactor* DataPlaneService::Open(
    const grpc::GenericCallbackServerContext& context) {
  Origin origin{context.peer(), on_error_, nullptr};
  if (admit_) {
    Result<OpCheck> admitted = admit_(AuthorizationOf(context));
    if (!admitted.ok()) {
      origin.Report(admitted.status());
      return new RefusedCall(admitted.status());
    }
    origin.may = std::move(admitted).value();
  }
  if (open_->fetch_add(1, std::memory_order_relaxed) >= limits_.streams && limits_.streams > 0) {
    open_->fetch_sub(1, std::memory_order_relaxed);
    const Status error = ResourceExhaustedError(std::to_string(limits_.streams) +
                                                " streams are open; close one, or try later");
    origin.Report(error);
    return new RefusedCall(error);
  }
  return new ServerStream(handler_, limits_.requests_per_stream, std::move(origin), open_);
}

}  // namespace pstrain
