#include "tests/process/hostile_client.h"

#include <arpa/inet.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdint>
#include <future>
#include <utility>

#include "base/clock.h"
#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/grpc_status.h"

namespace pstrain {

Status CallRaw(const std::string& address, const std::string& method, const std::string& message,
               const std::string& authorization, const Credentials* connection) {
  grpc::GenericStub stub(MakeChannel(address, connection));
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

std::vector<UniqueFd> SilentConnections(const std::string& address, int count) {
  std::vector<UniqueFd> connections;
  const std::size_t colon = address.rfind(':');
  std::uint16_t port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < count; ++i) {
    UniqueFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* const to = reinterpret_cast<const sockaddr*>(&name);
    if (connect(connection.get(), to, sizeof(name)) != 0) connection = UniqueFd();
    connections.push_back(std::move(connection));
  }
  return connections;
}

}  // namespace pstrain
