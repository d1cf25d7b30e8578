#include "runtime/rpc/grpc/grpc_transport.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/data_plane_service.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

// transport_test.cc has what this transport shares with the others.
class GrpcTransportTest : public ::testing::Test {
 protected:
  GrpcTransportTest() {
    auto server = transport_.Serve("127.0.0.1:0", handler_);
    EXPECT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }

  EchoHandler handler_;
  GrpcTransport transport_;
  std::unique_ptr<TransportServer> server_;
};

TEST_F(GrpcTransportTest, WhenManyAreOutstandingOverTwoConnections_EachGetsItsReply) {
  constexpr std::size_t kCalls = 2000;
  const std::unique_ptr<Connection> connections[] = {transport_.Connect(server_->address()),
                                                     transport_.Connect(server_->address())};
  Replies replies(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    connections[i % 2]->Call(1, {Bytes::FromString("body "), Bytes::FromString(std::to_string(i))},
                             Soon(), replies.Callback(i));
  }
  ASSERT_TRUE(replies.WaitForAll());
  for (std::size_t i = 0; i < kCalls; ++i) {
    ASSERT_TRUE(replies.at(i).ok()) << replies.at(i).status().ToString();
    EXPECT_EQ(replies.at(i)->view(), "body " + std::to_string(i));
  }
}

/// A client that sends one message and waits for the end of the stream.
class RawClient final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  RawClient(const std::string& address, const std::string& method, const std::string& message)
      : channel_(MakeChannel(address)) {
    grpc::Slice slice(message);
    outgoing_ = grpc::ByteBuffer(&slice, 1);
    grpc::GenericStub(channel_).PrepareBidiStreamingCall(&context_, method, {}, this);
    StartWrite(&outgoing_);
    StartRead(&incoming_);
    StartCall();
  }
  grpc::StatusCode Wait() {
    auto future = done_.get_future();
    if (future.wait_for(kPatience) != std::future_status::ready) context_.TryCancel();
    return future.get().error_code();
  }
  void OnDone(const grpc::Status& status) override { done_.set_value(status); }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  std::promise<grpc::Status> done_;
};

TEST_F(GrpcTransportTest, WhenTheFrameIsMalformed_TheStreamEndsAndTheServerLives) {
  for (const std::string& message :
       {std::string(), std::string("short"), std::string(64, 'x'), std::string(32, '\0')}) {
    RawClient client(server_->address(), kDataPlaneMethod, message);
    EXPECT_EQ(client.Wait(), grpc::StatusCode::INVALID_ARGUMENT) << message.size();
  }
  const auto connection = transport_.Connect(server_->address());
  EXPECT_EQ(CallAndWait(*connection, 1, "alive")->view(), "alive");
}

TEST_F(GrpcTransportTest, WhenTheMethodIsUnknown_IsUnimplementedAndReported) {
  Mutex mutex;
  std::vector<std::string> reported;
  const auto server = transport_.Serve(
      "127.0.0.1:0", handler_, {.on_error = [&](const std::string& peer, const Status& error) {
        const MutexLock lock(mutex);
        reported.push_back(peer + " " + error.ToString());
      }});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  RawClient client((*server)->address(), "/pstrain.DataPlane/" + std::string(1000, 'x'), "x");
  EXPECT_EQ(client.Wait(), grpc::StatusCode::UNIMPLEMENTED);
  const MutexLock lock(mutex);
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_TRUE(reported[0].starts_with("ipv4:127.0.0.1:")) << reported[0];
  EXPECT_NE(reported[0].find("UNIMPLEMENTED: no such method: /pstrain.DataPlane/xxx"),
            std::string::npos)
      << reported[0];
  // Whoever asks does not say how long the lines of the log are.
  EXPECT_LT(reported[0].size(), 300u);
}

}  // namespace
}  // namespace pstrain
