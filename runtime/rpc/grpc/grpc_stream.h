#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "runtime/rpc/bytes.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/pending_calls.h"

namespace pstrain {

/// One life of a client's stream. Requests go out in order, one write and one read at a time; when
/// the stream ends, the requests of its group fail with UNAVAILABLE. Any thread. Its connection
/// owns it until it is done: gRPC's own threads must not be the last to let go of a channel,
/// because gRPC joins them when the last channel ends.
///
///   state    Send        read or write fails   gRPC is done
///   open     queued      -> broken             -
///   broken   false       -                     -> done: the group's requests fail
class GrpcStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  GrpcStream(std::shared_ptr<grpc::Channel> channel, std::shared_ptr<PendingCalls> pending,
             const Credentials* credentials);

  /// Once; Send and Cancel may come before.
  void Start();
  /// The group of the requests that are sent here.
  std::uint64_t group() const { return group_; }
  /// False when the stream is broken: the caller ends the request.
  bool Send(std::uint64_t id, std::uint16_t op, std::vector<Bytes> parts);
  bool broken() const;
  /// The stream has ended and no callback of its requests runs or will run.
  bool done() const;
  void Cancel();
  /// Waits for done. REQUIRES: Start is or will be called; not from a callback.
  void WaitDone();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  struct Outgoing {
    std::uint64_t id;
    grpc::ByteBuffer message;
  };

  void WriteNext(bool written);
  void Break();

  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<PendingCalls> pending_;
  const std::uint64_t group_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer current_;  // being written

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Outgoing> queue_ PSTRAIN_GUARDED_BY(mutex_);
  bool writing_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool broken_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool released_ PSTRAIN_GUARDED_BY(mutex_) = false;  // gRPC may be done with us
  bool done_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

}  // namespace pstrain
