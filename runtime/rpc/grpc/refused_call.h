#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "base/status.h"
#include "runtime/rpc/grpc/grpc_status.h"

namespace pstrain {

/// A call that is answered with an error before anything of its messages is read: gRPC drops what
/// comes of them. Deletes itself when gRPC is done with it. Made, finished and deleted on threads
/// of gRPC.
class RefusedCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit RefusedCall(const Status& error) { Finish(ToGrpcStatus(error)); }
  void OnDone() override { delete this; }
};

}  // namespace pstrain
