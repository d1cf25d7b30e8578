#include "runtime/rpc/grpc/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "runtime/rpc/grpc/channel_settings.h"
#include "runtime/rpc/grpc/tls.h"

namespace pstrain {

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const Credentials* credentials, int most_bytes) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 500);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // Also the time that a connection attempt may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(kKeepaliveTime.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(kKeepaliveTimeout.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(most_bytes);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameSize);
  arguments.SetInt(GRPC_ARG_HTTP2_WRITE_BUFFER_SIZE, kHttp2WriteBufferSize);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kHttp2LookaheadSize);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kTcpReadChunkSize);
  arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kTcpMaxReadChunkSize);
  // A retry would keep a copy of what is sent; a push is repeated only by who knows its shards.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  const MutualTls* tls = credentials == nullptr ? nullptr : credentials->tls();
  if (tls != nullptr) arguments.SetSslTargetNameOverride(tls->server_name());
  return grpc::CreateCustomChannel(
      address, tls == nullptr ? grpc::InsecureChannelCredentials() : tls->channel(), arguments);
}

}  // namespace pstrain
