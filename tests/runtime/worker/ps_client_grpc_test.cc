#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/rpc/grpc/grpc_transport.h"
#include "runtime/worker/ps_client.h"
#include "tests/runtime/worker/ps_fixture.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A ps as it runs: engine, handler, server.
struct ServedPs {
  Status Listen(const std::string& address) {
    PSTRAIN_ASSIGN_OR_RETURN(server, transport.Serve(address, ps.handler));
    return ps.configured;
  }
  std::string address() const { return server->address(); }

  TestPs ps;
  GrpcTransport transport;
  std::unique_ptr<TransportServer> server;
};

TEST(PsClientOverGrpc, WhenAPsRestartsOnItsPort_OnlyItsShardsArePushedAgain) {
  ServedPs peers[2];
  for (ServedPs& peer : peers) ASSERT_TRUE(peer.Listen("127.0.0.1:0").ok());
  ASSERT_TRUE(peers[0].ps.Own({0, 2}, kSampleTerm).ok());
  ASSERT_TRUE(peers[1].ps.Own({1, 3}, kSampleTerm).ok());
  Membership membership = SampleMembership({peers[0].address(), peers[1].address()});
  GrpcTransport transports;
  auto created = PsClient::Create(SampleVariables(), kShards, transports);
  ASSERT_TRUE(created.ok());
  const std::unique_ptr<PsClient> client = std::move(created).value();
  const StepAccess plan = SamplePlan({1, 2, 3, 4, 5, 6, 7, 8, 500, 700});
  const StepUpdates gradients = SampleGradients(plan);
  const RoutedPlan routed = client->Route(plan).value();

  const auto first = client->Push({{0, 0}, 10}, routed, gradients, membership);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_THAT(first->Missing(), IsEmpty());

  const std::string address = peers[1].address();
  peers[1].server.reset();
  const auto second = client->Push({{0, 1}, 10}, routed, gradients, membership);
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_THAT(second->Missing(), ElementsAre(1, 3));

  // The engine lived on: a server on the same port under a new incarnation.
  ASSERT_TRUE(peers[1].Listen(address).ok());
  membership.mutable_ps(1)->set_incarnation(2);
  const auto third = client->Push({{0, 1}, 10}, routed, gradients, membership, second->Missing());
  ASSERT_TRUE(third.ok()) << third.status().ToString();
  EXPECT_THAT(third->Missing(), IsEmpty());

  const auto values = client->Pull(routed, membership);
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_EQ(values->values.dense, Expected(gradients, 2).dense);
  EXPECT_EQ(values->values.rows, Expected(gradients, 2).rows);
}

}  // namespace
}  // namespace pstrain
