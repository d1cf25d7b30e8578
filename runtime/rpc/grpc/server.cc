#include "runtime/rpc/grpc/server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/text/utf8.h"
#include "runtime/rpc/grpc/channel_settings.h"
#include "runtime/rpc/grpc/connection_gate.h"
#include "runtime/rpc/grpc/control_calls.h"
#include "runtime/rpc/grpc/data_plane_service.h"
#include "runtime/rpc/grpc/refused_call.h"
#include "runtime/rpc/grpc/tls.h"

namespace pstrain {
namespace {

void SetArguments(const ServeOptions& options, grpc::ServerBuilder& builder) {
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
                             static_cast<int>(options.first_frame_within.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(options.most_idle.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreamsOfAConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<std::uint64_t>(options.message_bytes, std::numeric_limits<std::int32_t>::max())));
  builder.SetMaxSendMessageSize(-1);
  // Our clients compress nothing, and a few bytes would become more than any limit.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
}

bool IsUnixSocket(const std::string& address) { return address.starts_with("unix:"); }

/// Every call of a server comes here with its headers, and nothing of its messages is read yet.
class IncomingCalls final : public grpc::CallbackGenericService {
 public:
  explicit IncomingCalls(const GrpcServer::Services& services)
      : on_error_(services.options.on_error),
        control_(services.services, services.verifier, services.control, on_error_) {
    if (services.data_plane == nullptr) return;
    data_plane_.emplace(*services.data_plane, services.options.limits, on_error_,
                        services.options.admit);
  }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (data_plane_ && context->method() == kDataPlaneMethod) return data_plane_->Open(*context);
    if (grpc::ServerGenericBidiReactor* call = control_.Open(*context)) return call;
    constexpr std::size_t kMostMethodBytes = 128;  // of a name, for the log and the answer
    const Status error = UnimplementedError(
        "no such method: " + std::string(Utf8Prefix(context->method(), kMostMethodBytes)));
    if (on_error_) on_error_(context->peer(), error);
    return new RefusedCall(error);
  }

 private:
  const ErrorObserver on_error_;
  ControlCalls control_;
  std::optional<DataPlaneService> data_plane_;
};

}  // namespace

Status CheckCanListen(const std::string& address) {
  if (IsUnixSocket(address)) return OkStatus();
  return ListenOn(address).status();
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(const std::string& address,
                                                      const Services& services) {
  grpc::ServerBuilder builder;
  SetArguments(services.options, builder);
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
  started->calls_ = std::make_unique<IncomingCalls>(services);
  builder.RegisterCallbackGenericService(started->calls_.get());
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
