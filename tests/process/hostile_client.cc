#include "tests/process/hostile_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <future>

#include "base/clock.h"
#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/grpc_status.h"

namespace pstrain {

Status CallRaw(const std::string& address, const std::string& method, const std::string& message,
               const std::string& authorization) {
  grpc::GenericStub stub(MakeChannel(address));
  grpc::ClientContext context;
  context.set_deadline(WallNow() + std::chrono::seconds(20));
  context.set_wait_for_ready(true);
  if (!authorization.empty()) context.AddMetadata("authorization", authorization);
  const grpc::Slice slice(message);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer reply;
  std::promise<grpc::Status> promise;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &reply,
                 [&promise](grpc::Status status) { promise.set_value(std::move(status)); });
  return FromGrpcStatus(promise.get_future().get());
}

}  // namespace pstrain
