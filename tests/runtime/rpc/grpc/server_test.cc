#include "runtime/rpc/grpc/server.h"

#include <gtest/gtest.h>

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
