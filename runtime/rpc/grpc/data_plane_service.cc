#include "runtime/rpc/grpc/data_plane_service.h"

#include <deque>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "runtime/rpc/grpc/frame_buffer.h"
#include "runtime/rpc/grpc/grpc_status.h"

namespace pstrain {
namespace {

/// Answers and goes: for methods that are not ours.
class RefusingStream final : public grpc::ServerGenericBidiReactor {
 public:
  explicit RefusingStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

/// The sending half of a stream: what responders keep when the stream is gone. `reactor` is
/// touched only by who set `writing` or `finished`; the reactor lives until both are settled.
class ReplyQueue {
 public:
  explicit ReplyQueue(grpc::ServerGenericBidiReactor* reactor) : reactor_(reactor) {}

  void Send(grpc::ByteBuffer message) {
    {
      MutexLock lock(mutex_);
      if (ended_) return;
      queue_.push_back(std::move(message));
    }
    WriteNext(/*written=*/false);
  }

  /// Starts the next write, or finishes the stream, if it is time. `written`: a write has ended.
  void WriteNext(bool written) {
    bool finish = false;
    grpc::Status status;
    {
      MutexLock lock(mutex_);
      if (written) writing_ = false;
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
    WriteNext(/*written=*/false);
  }

 private:
  grpc::ServerGenericBidiReactor* const reactor_;
  grpc::ByteBuffer current_;  // being written
  Mutex mutex_;
  std::deque<grpc::ByteBuffer> queue_ PSTRAIN_GUARDED_BY(mutex_);
  bool writing_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool ended_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool finished_ PSTRAIN_GUARDED_BY(mutex_) = false;
  grpc::Status status_ PSTRAIN_GUARDED_BY(mutex_);
};

/// One stream of one client connection. Deletes itself when gRPC is done with it.
class ServerStream final : public grpc::ServerGenericBidiReactor {
 public:
  explicit ServerStream(RequestHandler& handler)
      : handler_(handler), replies_(std::make_shared<ReplyQueue>(this)) {
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return replies_->End(grpc::Status::OK);
    Result<ReceivedFrame> frame = ReadFrameBuffer(incoming_);
    if (!frame.ok()) return replies_->End(ToGrpcStatus(frame.status()));
    if ((frame->header.flags & kFrameReply) != 0) {
      return replies_->End({grpc::StatusCode::INVALID_ARGUMENT, "a reply came as a request"});
    }
    const FrameHeader request = frame->header;
    Responder responder(
        [queue = replies_, request](const Status& status, std::vector<Bytes> parts) {
          FrameHeader reply = request;
          reply.flags = kFrameReply;
          reply.status = status.code();
          if (!status.ok()) parts = {Bytes::FromString(status.message())};
          queue->Send(MakeFrameBuffer(reply, std::move(parts)));
        });
    handler_.OnRequest(request.op, std::move(frame->body), std::move(responder));
    StartRead(&incoming_);
  }

  void OnWriteDone(bool /*ok*/) override {
    // After a failed write the read fails too, and ends the stream.
    replies_->WriteNext(/*written=*/true);
  }

  void OnDone() override { delete this; }

 private:
  RequestHandler& handler_;
  grpc::ByteBuffer incoming_;
  const std::shared_ptr<ReplyQueue> replies_;
};

}  // namespace

grpc::ServerGenericBidiReactor* DataPlaneService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  if (context->method() != kDataPlaneMethod) {
    return new RefusingStream(
        {grpc::StatusCode::UNIMPLEMENTED, "no such method: " + context->method()});
  }
  return new ServerStream(handler_);
}

}  // namespace pstrain
