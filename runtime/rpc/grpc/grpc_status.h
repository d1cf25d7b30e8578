#pragma once

#include <grpcpp/support/status.h>

#include "base/status.h"

namespace pstrain {

/// The two Status types carry the same codes; the messages are kept. Pure; any thread.
inline grpc::Status ToGrpcStatus(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), status.message()};
}
inline Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return OkStatus();
  return {static_cast<StatusCode>(status.error_code()), status.error_message()};
}

}  // namespace pstrain
