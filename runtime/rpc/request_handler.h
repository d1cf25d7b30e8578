#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "runtime/rpc/bytes.h"

namespace pstrain {

/// The right to answer one request, once. Movable; any thread; may outlive the stream on which the
/// request came (the answer is then dropped). Destroyed unused, it answers INTERNAL.
class Responder {
 public:
  /// `parts` make up the body, in order. With an error status they are empty.
  using Send = std::function<void(Status status, std::vector<Bytes> parts)>;

  explicit Responder(Send send) : send_(std::move(send)) {}
  ~Responder();
  Responder(Responder&& other) noexcept;
  Responder& operator=(Responder&& other) noexcept;

  /// REQUIRES: neither Reply nor Fail was called before.
  void Reply(std::vector<Bytes> parts);
  /// REQUIRES: as Reply, and !status.ok().
  void Fail(Status status);

 private:
  void Drop();

  Send send_;
};

/// What a server does with the requests of the data plane. Called from the threads of the
/// transport, several at a time; must not block: hand the work to other threads and answer from
/// there. Owned by who starts the server; outlives it.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  /// `body` is contiguous and aligned to kBytesAlignment.
  virtual void OnRequest(std::uint16_t op, Bytes body, Responder responder) = 0;
};

}  // namespace pstrain
