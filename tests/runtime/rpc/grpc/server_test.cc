#include "runtime/rpc/grpc/server.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "proto/contract/control.grpc.pb.h"
#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/grpc/grpc_transport.h"
#include "runtime/rpc/identity/caller.h"
#include "tests/runtime/rpc/grpc/http2_peer.h"
#include "tests/runtime/rpc/grpc/one_token.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

class GrpcServerTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<GrpcServer>> Start(const std::string& address) {
    return GrpcServer::Start(address, {.services = {}, .data_plane = &handler_});
  }
  EchoHandler handler_;
};

TEST_F(GrpcServerTest, WhenThePortIsInUse_NamesTheAddressAndTheReason) {
  auto first = Start("127.0.0.1:0");
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  ASSERT_GT((*first)->port(), 0);
  EXPECT_EQ((*first)->address(), "127.0.0.1:" + std::to_string((*first)->port()));
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  const auto second = Start(address);
  EXPECT_EQ(second.status(), FailedPreconditionError("listen on " + address +
                                                     ": Address already in use; end the process "
                                                     "that has the port, or take another"));
}

/// A control service.
class TermService final : public ControlService {
 public:
  TermService() : ControlService("pstrain.ChiefControl") {
    Serve("Hello", {}, 1024, &TermService::Hello);
    Serve("PollWorker", {}, 1024, &TermService::PollWorker);
  }
  Status Hello(const ControlPeer&, const HelloRequest&, HelloReply* reply) {
    reply->set_chief_term(7);
    return OkStatus();
  }
  /// A reply of somewhat more than 1000 bytes.
  Status PollWorker(const ControlPeer&, const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->set_refused(std::string(1000, 'x'));
    return OkStatus();
  }
};

TEST_F(GrpcServerTest, WhenItHasServicesAndADataPlane_ServesBothOnOnePort) {
  TermService service;
  const auto server =
      GrpcServer::Start("127.0.0.1:0", {.services = {&service}, .data_plane = &handler_});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  GrpcTransport transport;
  const auto connection = transport.Connect((*server)->address());
  EXPECT_EQ(CallAndWait(*connection, 1, "data")->view(), "data");
  ChiefControl::Stub stub(MakeChannel((*server)->address()));
  grpc::ClientContext context;
  HelloReply reply;
  EXPECT_TRUE(stub.Hello(&context, {}, &reply).ok());
  EXPECT_EQ(reply.chief_term(), 7u);
}

TEST_F(GrpcServerTest, WhenConnectionsAreAtTheBound_OneMoreIsClosedUntilThereIsRoom) {
  std::atomic<int> refused{0};
  ServeOptions options;
  options.connections = 2;
  options.on_error = [&refused](const std::string& peer, const Status& error) {
    EXPECT_TRUE(peer.starts_with("ipv4:127.0.0.1:")) << peer;
    EXPECT_EQ(error.code(), StatusCode::kResourceExhausted);
    ++refused;
  };
  const auto server = GrpcServer::Start(
      "127.0.0.1:0", {.services = {}, .data_plane = &handler_, .options = options});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  GrpcTransport transport;
  const auto connection = transport.Connect((*server)->address());
  EXPECT_EQ(CallAndWait(*connection, 1, "one")->view(), "one");
  auto second = std::make_unique<Http2Peer>((*server)->port());
  EXPECT_TRUE(second->Greeted());
  EXPECT_FALSE(Http2Peer((*server)->port()).Greeted());
  EXPECT_EQ(refused, 1);
  // Who is connected is not disturbed.
  EXPECT_EQ(CallAndWait(*connection, 1, "two")->view(), "two");
  second.reset();
  const SteadyTime deadline = SteadyNow() + std::chrono::seconds(30);
  bool taken = false;
  while (!taken && SteadyNow() < deadline) taken = Http2Peer((*server)->port()).Greeted();
  EXPECT_TRUE(taken);
}

TEST_F(GrpcServerTest, WhenItHasNoDataPlane_CallsFailAndItsServicesAnswer) {
  TermService service;
  const auto server = GrpcServer::Start("127.0.0.1:0", {.services = {&service}});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  GrpcTransport transport;
  const auto connection = transport.Connect((*server)->address());
  EXPECT_EQ(CallAndWait(*connection, 1, "data").status().code(), StatusCode::kUnavailable);
  ChiefControl::Stub stub(MakeChannel((*server)->address()));
  grpc::ClientContext context;
  HelloReply reply;
  EXPECT_TRUE(stub.Hello(&context, {}, &reply).ok());
}

TEST_F(GrpcServerTest, AReplyBeyondTheLimitOfAChannel_IsNotTaken) {
  TermService service;
  const auto server = GrpcServer::Start("127.0.0.1:0", {.services = {&service}});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  for (const int most : {1000, 2000}) {
    ChiefControl::Stub stub(MakeChannel((*server)->address(), nullptr, most));
    grpc::ClientContext context;
    PollWorkerReply reply;
    EXPECT_EQ(stub.PollWorker(&context, {}, &reply).error_code(),
              most == 1000 ? grpc::StatusCode::RESOURCE_EXHAUSTED : grpc::StatusCode::OK);
  }
}

TEST_F(GrpcServerTest, WhenAMessageIsTooLarge_ItsStreamEndsAndTheNextOneIsServed) {
  const auto server =
      GrpcServer::Start("127.0.0.1:0", {.services = {},
                                        .data_plane = &handler_,
                                        .options = {.message_bytes = std::uint64_t{1} << 20}});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  GrpcTransport transport;
  const auto connection = transport.Connect((*server)->address());
  const std::string large(std::size_t{2} << 20, 'x');
  EXPECT_EQ(CallAndWait(*connection, 1, large).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(CallAndWait(*connection, 1, "small")->view(), "small");
}

TEST_F(GrpcServerTest, WhenAStreamHasTooManyUnansweredRequests_TheNextOnesWait) {
  constexpr std::size_t kMost = 4;
  const auto server =
      GrpcServer::Start("127.0.0.1:0", {.services = {},
                                        .data_plane = &handler_,
                                        .options = {.limits = {.requests_per_stream = kMost}}});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  GrpcTransport transport;
  const auto connection = transport.Connect((*server)->address());
  Replies replies(kMost + 1);
  for (std::size_t i = 0; i < kMost; ++i) connection->Call(3, {}, Soon(), replies.Callback(i));
  ASSERT_TRUE(handler_.WaitForKept(kMost));
  // Would be answered immediately if it were read.
  connection->Call(1, {}, Soon(), replies.Callback(kMost));
  // A round trip over another connection takes longer than this one would.
  EXPECT_TRUE(CallAndWait(*transport.Connect((*server)->address()), 1, "x").ok());
  EXPECT_EQ(replies.arrived(), 0u);
  handler_.Release();
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_TRUE(replies.at(kMost).ok());
}

TEST_F(GrpcServerTest, WhenTooManyStreamsAreOpen_TheNextOneIsRefusedUntilOneIsClosed) {
  std::vector<std::string> errors;
  Mutex mutex;
  const auto server = GrpcServer::Start(
      "127.0.0.1:0", {.services = {},
                      .data_plane = &handler_,
                      .options = {.limits = {.streams = 1},
                                  .on_error = [&](const std::string& peer, const Status& error) {
                                    const MutexLock lock(mutex);
                                    errors.push_back(peer + " " + error.ToString());
                                  }}});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  GrpcTransport transport;
  auto first = transport.Connect((*server)->address());
  ASSERT_TRUE(CallAndWait(*first, 1, "x").ok());
  const auto second = transport.Connect((*server)->address());
  EXPECT_EQ(CallAndWait(*second, 1, "x").status().code(), StatusCode::kUnavailable);
  {
    const MutexLock lock(mutex);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(errors[0].starts_with("ipv4:127.0.0.1:")) << errors[0];
    EXPECT_NE(errors[0].find("RESOURCE_EXHAUSTED"), std::string::npos) << errors[0];
  }
  first.reset();
  const auto deadline = Soon();
  while (!CallAndWait(*second, 1, "x").ok() && SteadyNow() < deadline) {
  }
  EXPECT_TRUE(CallAndWait(*second, 1, "x").ok());
}

TEST_F(GrpcServerTest, OfAStream_TheTokenIsReadWhenItOpensAndItsTimeWithEachRequest) {
  OneToken verifier;
  const StreamAdmission admit = [&verifier](std::string_view authorization) -> Result<OpCheck> {
    PSTRAIN_ASSIGN_OR_RETURN(const Caller caller, VerifyBearer(verifier, authorization));
    return OpCheck([&verifier, caller](std::uint16_t) { return verifier.CheckStillGood(caller); });
  };
  const auto server = GrpcServer::Start(
      "127.0.0.1:0", {.services = {}, .data_plane = &handler_, .options = {.admit = admit}});
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  const Showing good("good");
  const Showing bad("bad");
  for (const Credentials* shown :
       {static_cast<const Credentials*>(nullptr), static_cast<const Credentials*>(&bad)}) {
    GrpcTransport transport(std::make_shared<PendingCalls>(), shown);
    const auto connection = transport.Connect((*server)->address());
    EXPECT_EQ(CallAndWait(*connection, 1, "x").status().code(), StatusCode::kUnavailable);
  }
  GrpcTransport transport(std::make_shared<PendingCalls>(), &good);
  const auto connection = transport.Connect((*server)->address());
  EXPECT_TRUE(CallAndWait(*connection, 1, "x").ok());
  verifier.expired = true;
  EXPECT_EQ(CallAndWait(*connection, 1, "x").status().code(), StatusCode::kUnavailable);
  verifier.expired = false;
  EXPECT_TRUE(CallAndWait(*connection, 1, "x").ok());
}

TEST_F(GrpcServerTest, WhenStopped_ThePortIsFreeAgain) {
  auto first = Start("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  (*first)->Shutdown(std::chrono::milliseconds(0));
  EXPECT_TRUE(Start(address).ok());
}

TEST_F(GrpcServerTest, WhenTheAddressIsBad_IsInvalid) {
  EXPECT_EQ(Start("127.0.0.1").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
