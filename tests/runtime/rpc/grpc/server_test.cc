#include "runtime/rpc/grpc/server.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "proto/contract/control.grpc.pb.h"
#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/grpc_transport.h"
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
class TermService final : public ChiefControl::Service {
 public:
  grpc::Status Hello(grpc::ServerContext*, const HelloRequest*, HelloReply* reply) override {
    reply->set_chief_term(7);
    return grpc::Status::OK;
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
