// What a server holds each connection to, by peers that keep to nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/rpc/grpc/channel_settings.h"
#include "runtime/rpc/grpc/data_plane_service.h"
#include "runtime/rpc/grpc/grpc_transport.h"
#include "runtime/rpc/grpc/server.h"
#include "runtime/rpc/identity/jwt.h"
#include "tests/runtime/rpc/grpc/http2_peer.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;

class ConnectionBoundsTest : public testing::Test {
 protected:
  void Start(const ServeOptions& options = {}) {
    auto server = GrpcServer::Start("127.0.0.1:0",
                                    {.services = {}, .data_plane = &handler_, .options = options});
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }
  std::uint16_t port() const { return server_->port(); }
  /// One of ours.
  std::unique_ptr<Connection> Connect() { return transport_.Connect(server_->address()); }

  EchoHandler handler_;
  GrpcTransport transport_;
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(ConnectionBoundsTest, WhenAConnectionOpensTooManyStreams_IsClosed) {
  Start();
  const auto ours = Connect();
  EXPECT_TRUE(CallAndWait(*ours, 1, "before").ok());
  Http2Peer peer(port());
  peer.Begin();
  std::uint32_t stream = 1;
  for (int i = 0; i < kMostStreamsOfAConnection; ++i, stream += 2) {
    peer.Open(stream, kDataPlaneMethod);
  }
  EXPECT_TRUE(peer.Alive());
  peer.Open(stream, kDataPlaneMethod);
  EXPECT_TRUE(peer.Closed());
  EXPECT_EQ(CallAndWait(*ours, 1, "after")->view(), "after");
}

TEST_F(ConnectionBoundsTest, WhenTheHeadersOfACallAreTooLarge_ItsConnectionIsClosed) {
  Start();
  Http2Peer long_token(port());
  long_token.Begin();
  long_token.Open(1, kDataPlaneMethod, kMostTokenBytes);
  EXPECT_TRUE(long_token.Alive());
  Http2Peer too_long(port());
  too_long.Begin();
  too_long.Open(1, kDataPlaneMethod, kMostMetadataBytes);
  EXPECT_TRUE(too_long.Closed());
  EXPECT_TRUE(CallAndWait(*Connect(), 1, "x").ok());
}

TEST_F(ConnectionBoundsTest, WhoDoesNotComeToAFirstFrame_IsClosed) {
  Start({.first_frame_within = milliseconds(2000)});
  Http2Peer speaks(port());
  speaks.Begin();
  Http2Peer silent(port());
  Http2Peer stops(port());
  stops.SendPreface();
  EXPECT_TRUE(silent.Closed());
  EXPECT_TRUE(stops.Closed());
  EXPECT_TRUE(speaks.Alive());
}

TEST_F(ConnectionBoundsTest, WhoMakesNoCall_IsClosedAndWhoWaitsForAnAnswerIsNot) {
  Start({.most_idle = milliseconds(2000)});
  const auto waits = Connect();
  Replies replies(1);
  waits->Call(3, {}, Soon(), replies.Callback(0));
  ASSERT_TRUE(handler_.WaitForKept(1));
  Http2Peer idle(port());
  idle.Begin();
  EXPECT_TRUE(idle.Closed());
  handler_.Release();
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_TRUE(replies.at(0).ok()) << replies.at(0).status().ToString();
}

// Who silently holds all connections keeps others out for so long (docs/security.md).
TEST(ServeOptions, GiveASilentConnection10SecondsAndOneWithoutACall10Minutes) {
  EXPECT_EQ(ServeOptions().first_frame_within, std::chrono::seconds(10));
  EXPECT_EQ(ServeOptions().most_idle, std::chrono::minutes(10));
}

TEST_F(ConnectionBoundsTest, TheLimitOfDescriptors_IsRaisedAsFarAsConnectionsNeedIt) {
  constexpr std::size_t kConnections = 1000;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = std::min<rlim_t>(400, before.rlim_max), .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  Start({.connections = kConnections});
  rlimit now{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  // The gate has two descriptors of each.
  EXPECT_GE(now.rlim_cur, std::min<rlim_t>(2 * kConnections, before.rlim_max));
  EXPECT_EQ(now.rlim_max, before.rlim_max);
}

/// Connections that a server takes in a process of 300 descriptors, 256 of which are for other
/// things. The limit cannot be raised again.
int TakenWith300Descriptors() {
  const rlimit few{.rlim_cur = 300, .rlim_max = 300};
  if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 0;
  EchoHandler handler;
  const auto server = GrpcServer::Start(
      "127.0.0.1:0", {.services = {}, .data_plane = &handler, .options = {.connections = 1000}});
  if (!server.ok()) return 0;
  std::vector<std::unique_ptr<Http2Peer>> peers;
  do {
    peers.push_back(std::make_unique<Http2Peer>((*server)->port()));
  } while (peers.back()->Greeted());
  return static_cast<int>(peers.size()) - 1;
}

TEST(ConnectionBoundsDeathTest, WhereDescriptorsAreFew_TheBoundIsWhatTheyLeave) {
  // In a process of its own from the start: gRPC does not survive a fork.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(TakenWith300Descriptors()), testing::ExitedWithCode(22), "");
}

}  // namespace
}  // namespace pstrain
