#include "runtime/rpc/grpc/server.h"

#include <gtest/gtest.h>

#include "runtime/rpc/grpc/data_plane_service.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

class GrpcServerTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<GrpcServer>> Start(const std::string& address, DataPlaneService& service) {
    GrpcServer::Services services;
    services.generic = &service;
    return GrpcServer::Start(address, services);
  }
  EchoHandler handler_;
  DataPlaneService first_{handler_};
  DataPlaneService second_{handler_};
};

TEST_F(GrpcServerTest, WhenThePortIsInUse_NamesTheAddressAndTheReason) {
  auto first = Start("127.0.0.1:0", first_);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  ASSERT_GT((*first)->port(), 0);
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  const auto second = Start(address, second_);
  EXPECT_EQ(second.status(), FailedPreconditionError("listen on " + address +
                                                     ": Address already in use; end the process "
                                                     "that has the port, or take another"));
}

TEST_F(GrpcServerTest, WhenStopped_ThePortIsFreeAgain) {
  auto first = Start("127.0.0.1:0", first_);
  ASSERT_TRUE(first.ok());
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  (*first)->Shutdown(std::chrono::milliseconds(0));
  EXPECT_TRUE(Start(address, second_).ok());
}

TEST_F(GrpcServerTest, WhenTheAddressIsBad_IsInvalid) {
  EXPECT_EQ(Start("127.0.0.1", first_).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
