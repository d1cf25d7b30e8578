#include "runtime/rpc/grpc/grpc_connection.h"

#include <utility>

#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/grpc_stream.h"

namespace pstrain {

GrpcConnection::GrpcConnection(const std::string& address, std::shared_ptr<PendingCalls> pending,
                               const Credentials* credentials)
    : address_(address),
      pending_(std::move(pending)),
      credentials_(credentials),
      channel_(MakeChannel(address, credentials)) {}

GrpcConnection::~GrpcConnection() { Close(); }

void GrpcConnection::Call(std::uint16_t op, std::vector<Bytes> parts,
                          std::chrono::steady_clock::time_point deadline, ReplyCallback callback) {
  std::shared_ptr<GrpcStream> stream;
  std::uint64_t id = 0;
  bool opened = false;
  {
    MutexLock lock(mutex_);
    if (!closed_) {
      if (stream_ == nullptr || stream_->broken()) {
        std::erase_if(retired_, [](const auto& retired) { return retired->done(); });
        if (stream_ != nullptr) retired_.push_back(std::move(stream_));
        stream_ = std::make_shared<GrpcStream>(channel_, pending_, credentials_);
        opened = true;
      }
      stream = stream_;
      id = pending_->Add(stream->group(), deadline, std::move(callback));
    }
  }
  // Moved only where there is a stream. NOLINTNEXTLINE(bugprone-use-after-move)
  if (stream == nullptr) return callback(CancelledError("the connection is closed"));
  if (opened) stream->Start();
  if (!stream->Send(id, op, std::move(parts))) {
    pending_->Complete(stream->group(), id,
                       UnavailableError("the stream to " + address_ + " broke"));
  }
}

void GrpcConnection::Close() {
  std::vector<std::shared_ptr<GrpcStream>> streams;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    streams.swap(retired_);
    if (stream_ != nullptr) streams.push_back(std::move(stream_));
  }
  for (const auto& stream : streams) {
    pending_->FailGroup(stream->group(), CancelledError("the connection was closed"));
    stream->Cancel();
  }
  for (const auto& stream : streams) stream->WaitDone();
}

}  // namespace pstrain
