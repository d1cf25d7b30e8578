#include "runtime/rpc/grpc/grpc_transport.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>

#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/data_plane_service.h"
#include "runtime/rpc/grpc/server.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

class GrpcTransportTest : public ::testing::Test {
 protected:
  void StartServer(const std::string& address = "127.0.0.1:0") {
    service_ = std::make_unique<DataPlaneService>(handler_);
    GrpcServer::Services services;
    services.generic = service_.get();
    auto server = GrpcServer::Start(address, services);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
    address_ = "127.0.0.1:" + std::to_string(server_->port());
  }
  /// Calls until the channel has connected again.
  Result<Bytes> CallUntilReached(Transport& transport, const std::string& body) {
    const auto deadline = Soon();
    Result<Bytes> reply = CallAndWait(transport, 1, body);
    while (reply.status().code() == StatusCode::kUnavailable &&
           std::chrono::steady_clock::now() < deadline) {
      reply = CallAndWait(transport, 1, body);
    }
    return reply;
  }

  EchoHandler handler_;
  std::unique_ptr<DataPlaneService> service_;
  std::unique_ptr<GrpcServer> server_;
  std::string address_;
  GrpcTransportFactory factory_;
};

TEST_F(GrpcTransportTest, WhenCalled_AnswersAndPassesErrorsOn) {
  StartServer();
  const auto transport = factory_.Connect(address_);
  EXPECT_EQ(CallAndWait(*transport, 1, "hello")->view(), "hello");
  EXPECT_EQ(CallAndWait(*transport, 1, "")->view(), "");
  EXPECT_EQ(CallAndWait(*transport, 2, "no").status(), AbortedError("no"));
}

TEST_F(GrpcTransportTest, WhenManyAreOutstandingOverTwoLanes_EachGetsItsReply) {
  constexpr std::size_t kCalls = 2000;
  StartServer();
  GrpcTransportFactory two_lanes(2);
  const auto transport = two_lanes.Connect(address_);
  Replies replies(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    transport->Call(1, {Bytes::FromString("body "), Bytes::FromString(std::to_string(i))}, Soon(),
                    replies.Callback(i));
  }
  ASSERT_TRUE(replies.WaitForAll());
  for (std::size_t i = 0; i < kCalls; ++i) {
    ASSERT_TRUE(replies.at(i).ok()) << replies.at(i).status().ToString();
    EXPECT_EQ(replies.at(i)->view(), "body " + std::to_string(i));
  }
}

TEST_F(GrpcTransportTest, WhenTheBodyIs64MiB_ArrivesAlignedAndUnchanged) {
  StartServer();
  const auto transport = factory_.Connect(address_);
  std::vector<std::uint32_t> values((std::size_t{64} << 20) / sizeof(std::uint32_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(i * 2654435761u);
  }
  const Bytes body = Bytes::FromVector(std::move(values));
  Replies replies(1);
  transport->Call(1, {body}, Soon(), replies.Callback(0));
  ASSERT_TRUE(replies.WaitForAll());
  const auto reply = replies.at(0);
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  ASSERT_EQ(reply->size(), body.size());
  EXPECT_EQ(std::memcmp(reply->data(), body.data(), body.size()), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reply->data()) % kBytesAlignment, 0u);
}

TEST_F(GrpcTransportTest, WhenTheReplyIsLate_FailsByItsDeadlineAndTheStreamGoesOn) {
  StartServer();
  const auto transport = factory_.Connect(address_);
  const auto reply = CallAndWait(*transport, 3, "slow", std::chrono::milliseconds(50));
  EXPECT_EQ(reply.status().code(), StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(handler_.WaitForKept(1));
  handler_.Release();
  EXPECT_EQ(CallAndWait(*transport, 1, "next")->view(), "next");
}

TEST_F(GrpcTransportTest, WhenNobodyListens_IsUnavailable) {
  StartServer();
  server_.reset();
  const auto transport = factory_.Connect(address_);
  EXPECT_EQ(CallAndWait(*transport, 1, "x").status().code(), StatusCode::kUnavailable);
}

TEST_F(GrpcTransportTest, WhenTheServerRestarts_OutstandingCallsFailAndLaterOnesReachTheNewOne) {
  StartServer();
  const auto transport = factory_.Connect(address_);
  Replies replies(8);
  for (std::size_t i = 0; i < 8; ++i) {
    transport->Call(3, {Bytes::FromString("lost")}, Soon(), replies.Callback(i));
  }
  ASSERT_TRUE(handler_.WaitForKept(8));
  server_.reset();
  ASSERT_TRUE(replies.WaitForAll());
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(replies.at(i).status().code(), StatusCode::kUnavailable);
  }
  handler_.Release();  // replies to a stream that is gone
  StartServer(address_);
  const auto reply = CallUntilReached(*transport, "back");
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->view(), "back");
}

TEST_F(GrpcTransportTest, WhenClosedWithCallsOutstanding_TheyAreCancelledBeforeCloseReturns) {
  StartServer();
  const auto transport = factory_.Connect(address_);
  Replies replies(4);
  for (std::size_t i = 0; i < 4; ++i) transport->Call(3, {}, Soon(), replies.Callback(i));
  ASSERT_TRUE(handler_.WaitForKept(4));
  transport->Close();
  EXPECT_EQ(replies.arrived(), 4u);
  EXPECT_EQ(replies.at(3).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(CallAndWait(*transport, 1, "x").status().code(), StatusCode::kCancelled);
  handler_.Release();
}

TEST_F(GrpcTransportTest, WhenACallbackCallsAgain_ItIsServed) {
  StartServer();
  const auto transport = factory_.Connect(address_);
  Replies replies(1);
  transport->Call(1, {}, Soon(), [&](const Result<Bytes>& first) {
    ASSERT_TRUE(first.ok());
    transport->Call(1, {Bytes::FromString("second")}, Soon(), replies.Callback(0));
  });
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_EQ(replies.at(0)->view(), "second");
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
  StartServer();
  for (const std::string& message :
       {std::string(), std::string("short"), std::string(64, 'x'), std::string(32, '\0')}) {
    RawClient client(address_, kDataPlaneMethod, message);
    EXPECT_EQ(client.Wait(), grpc::StatusCode::INVALID_ARGUMENT) << message.size();
  }
  const auto transport = factory_.Connect(address_);
  EXPECT_EQ(CallAndWait(*transport, 1, "alive")->view(), "alive");
}

TEST_F(GrpcTransportTest, WhenTheMethodIsUnknown_IsUnimplemented) {
  StartServer();
  RawClient client(address_, "/pstrain.DataPlane/Other", "x");
  EXPECT_EQ(client.Wait(), grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace pstrain
