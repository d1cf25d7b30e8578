#include "runtime/rpc/grpc/grpc_stream.h"

#include <grpcpp/generic/generic_stub.h>

#include <string>

#include "runtime/rpc/grpc/call_identity.h"
#include "runtime/rpc/grpc/data_plane_service.h"
#include "runtime/rpc/grpc/frame_buffer.h"

namespace pstrain {

GrpcStream::GrpcStream(std::shared_ptr<grpc::Channel> channel,
                       std::shared_ptr<PendingCalls> pending, const Credentials* credentials)
    : channel_(std::move(channel)), pending_(std::move(pending)), group_(pending_->NewGroup()) {
  // Without its token the server refuses the stream, and says so.
  static_cast<void>(AddToken(credentials, Audience::kPs, context_));
  grpc::GenericStub stub(channel_);
  stub.PrepareBidiStreamingCall(&context_, kDataPlaneMethod, grpc::StubOptions(), this);
  // Writes come from other threads than gRPC's: until this is released, gRPC is not done with us.
  AddHold();
}

void GrpcStream::Start() {
  StartRead(&incoming_);
  StartCall();
}

bool GrpcStream::Send(std::uint64_t id, std::uint16_t op, std::vector<Bytes> parts) {
  FrameHeader header;
  header.op = op;
  header.request_id = id;
  Outgoing outgoing{id, MakeFrameBuffer(header, std::move(parts))};
  {
    MutexLock lock(mutex_);
    if (broken_) return false;
    queue_.push_back(std::move(outgoing));
  }
  WriteNext(/*written=*/false);
  return true;
}

bool GrpcStream::broken() const {
  MutexLock lock(mutex_);
  return broken_;
}

bool GrpcStream::done() const {
  MutexLock lock(mutex_);
  return done_;
}

void GrpcStream::Cancel() { context_.TryCancel(); }

void GrpcStream::WaitDone() {
  {
    MutexLock lock(mutex_);
    while (!done_) changed_.Wait(mutex_);
  }
  pending_->WaitIdle(group_);
}

void GrpcStream::WriteNext(bool written) {
  std::deque<Outgoing> dropped;
  bool release = false;
  {
    MutexLock lock(mutex_);
    if (written) writing_ = false;
    if (writing_ || released_) return;
    // What nobody waits for any more is not sent.
    while (!queue_.empty() && !pending_->Contains(queue_.front().id)) {
      dropped.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    if (broken_) {
      dropped.swap(queue_);
      release = released_ = true;
    } else if (queue_.empty()) {
      return;
    } else {
      current_.Swap(&queue_.front().message);
      queue_.pop_front();
      writing_ = true;
    }
  }
  if (release) {
    RemoveHold();
  } else {
    StartWrite(&current_);
  }
}

void GrpcStream::Break() {
  {
    MutexLock lock(mutex_);
    broken_ = true;
  }
  WriteNext(/*written=*/false);
}

void GrpcStream::OnReadDone(bool ok) {
  if (!ok) return Break();
  Result<ReceivedFrame> frame = ReadFrameBuffer(incoming_);
  if (!frame.ok() || (frame->header.flags & kFrameReply) == 0) {
    Cancel();
    return Break();
  }
  const FrameHeader& header = frame->header;
  if (header.status == StatusCode::kOk) {
    pending_->Complete(group_, header.request_id, std::move(frame->body));
  } else {
    pending_->Complete(group_, header.request_id,
                       Status(header.status, std::string(frame->body.view())));
  }
  StartRead(&incoming_);
}

void GrpcStream::OnWriteDone(bool ok) {
  if (!ok) {
    MutexLock lock(mutex_);
    broken_ = true;
  }
  WriteNext(/*written=*/true);
}

void GrpcStream::OnDone(const grpc::Status& status) {
  pending_->FailGroup(
      group_, UnavailableError(status.ok() ? "the peer ended the stream" : status.error_message()));
  // Last touch: the connection may destroy the stream as soon as the lock is free.
  MutexLock lock(mutex_);
  broken_ = true;
  done_ = true;
  changed_.NotifyAll();
}

}  // namespace pstrain
