#include "runtime/rpc/grpc/server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "runtime/rpc/grpc/channel_settings.h"
#include "runtime/rpc/grpc/connection_gate.h"
#include "runtime/rpc/grpc/data_plane_service.h"
#include "runtime/rpc/grpc/tls.h"

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
  return ListenOn(address).status();
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(const std::string& address,
                                                      const Services& services) {
  grpc::ServerBuilder builder;
  SetArguments(services.options.message_bytes, builder);
  std::unique_ptr<GrpcServer> started(new GrpcServer);
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  const std::shared_ptr<grpc::ServerCredentials> credentials =
      services.options.tls == nullptr ? grpc::InsecureServerCredentials()
                                      : services.options.tls->server();
  if (IsUnixSocket(address)) {
    builder.AddListeningPort(address, credentials);
  } else {
    PSTRAIN_ASSIGN_OR_RETURN(
        started->gate_,
        ConnectionGate::Listen(address, services.options.connections, services.options.on_error));
    acceptor = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
  }
  for (grpc::Service* service : services.services) builder.RegisterService(service);
  if (services.data_plane != nullptr) {
    started->data_plane_ =
        std::make_unique<DataPlaneService>(*services.data_plane, services.options.limits,
                                           services.options.on_error, services.options.admit);
    builder.RegisterCallbackGenericService(started->data_plane_.get());
  }
  started->server_ = builder.BuildAndStart();
  if (started->server_ == nullptr) {
    return FailedPreconditionError("listen on " + address + ": gRPC could not bind");
  }
  started->address_ = address;
  if (started->gate_ != nullptr) {
    started->port_ = started->gate_->port();
    started->address_.resize(address.rfind(':') + 1);
    started->address_ += std::to_string(started->port_);
    started->gate_->Start(std::move(acceptor));
  }
  return started;
}

GrpcServer::GrpcServer() = default;

GrpcServer::~GrpcServer() { Shutdown(std::chrono::milliseconds(0)); }

void GrpcServer::Shutdown(std::chrono::milliseconds grace) {
  if (server_ == nullptr || std::exchange(stopped_, true)) return;
  if (gate_ != nullptr) gate_->Stop();
  server_->Shutdown(WallNow() + grace);
  server_->Wait();
}

}  // namespace pstrain
