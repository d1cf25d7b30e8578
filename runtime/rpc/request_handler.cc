#include "runtime/rpc/request_handler.h"

#include <utility>

namespace pstrain {

Responder::~Responder() { Drop(); }

Responder::Responder(Responder&& other) noexcept : send_(std::exchange(other.send_, nullptr)) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    Drop();
    send_ = std::exchange(other.send_, nullptr);
  }
  return *this;
}

void Responder::Reply(std::vector<Bytes> parts) {
  std::exchange(send_, nullptr)(OkStatus(), std::move(parts));
}

void Responder::Fail(Status status) { std::exchange(send_, nullptr)(std::move(status), {}); }

void Responder::Drop() {
  if (send_) Fail(InternalError("the request was dropped without an answer"));
}

}  // namespace pstrain
