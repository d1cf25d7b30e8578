#include "runtime/rpc/grpc/server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "runtime/rpc/grpc/channel_settings.h"
#include "runtime/rpc/grpc/data_plane_service.h"

namespace pstrain {
namespace {

void SetArguments(std::uint64_t message_bytes, grpc::ServerBuilder& builder) {
  // With it a second server on the same port would start without an error.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(kKeepaliveTime.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             static_cast<int>(kKeepaliveTimeout.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(kMinPingInterval.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameSize);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_WRITE_BUFFER_SIZE, kHttp2WriteBufferSize);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kHttp2LookaheadSize);
  builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kTcpReadChunkSize);
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kTcpMaxReadChunkSize);
  // Who connects and says nothing, or opens streams without end, is not kept waiting for.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(kHandshakeTimeout.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(kMostIdleTime.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreamsOfAConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<std::uint64_t>(message_bytes, std::numeric_limits<std::int32_t>::max())));
  builder.SetMaxSendMessageSize(-1);
}

bool IsUnixSocket(const std::string& address) { return address.starts_with("unix:"); }

}  // namespace

Status CheckCanListen(const std::string& address) {
  if (IsUnixSocket(address)) return OkStatus();
  const std::string action = "listen on " + address;
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return InvalidArgumentError(action + ": no port");
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int resolved = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found);
  if (resolved != 0) return InvalidArgumentError(action + ": " + gai_strerror(resolved));
  Status status;
  const int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
  if (fd >= 0) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const bool listens = bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, 1) == 0;
    const int error = listens ? 0 : errno;
    // Where IPv6 is switched off, gRPC takes IPv4 for the wildcard.
    if (error != 0 && !(host == "::" && error == EADDRNOTAVAIL)) {
      status = ErrnoError(error, action);
      if (error == EADDRINUSE) {
        status = FailedPreconditionError(status.message() +
                                         "; end the process that has the port, or take another");
      }
    }
    close(fd);
  }
  freeaddrinfo(found);
  return status;
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(const std::string& address,
                                                      const Services& services) {
  // gRPC says only that it could not bind, and says it in its own log.
  PSTRAIN_RETURN_IF_ERROR(CheckCanListen(address));
  grpc::ServerBuilder builder;
  SetArguments(services.options.message_bytes, builder);
  std::unique_ptr<GrpcServer> started(new GrpcServer);
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  for (grpc::Service* service : services.services) builder.RegisterService(service);
  if (services.data_plane != nullptr) {
    started->data_plane_ =
        std::make_unique<DataPlaneService>(*services.data_plane, services.options.limits,
                                           services.options.on_error, services.options.admit);
    builder.RegisterCallbackGenericService(started->data_plane_.get());
  }
  started->server_ = builder.BuildAndStart();
  if (started->server_ == nullptr || port == 0) {
    return FailedPreconditionError("listen on " + address + ": gRPC could not bind");
  }
  started->address_ = address;
  if (!IsUnixSocket(address)) {
    started->port_ = static_cast<std::uint16_t>(port);
    started->address_.resize(address.rfind(':') + 1);
    started->address_ += std::to_string(port);
  }
  return started;
}

GrpcServer::GrpcServer() = default;

GrpcServer::~GrpcServer() { Shutdown(std::chrono::milliseconds(0)); }

void GrpcServer::Shutdown(std::chrono::milliseconds grace) {
  if (server_ == nullptr || std::exchange(stopped_, true)) return;
  server_->Shutdown(WallNow() + grace);
  server_->Wait();
}

}  // namespace pstrain
