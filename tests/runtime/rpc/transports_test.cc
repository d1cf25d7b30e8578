#include "runtime/rpc/transports.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

TEST(TransportTable, SchemesAreDistinct) {
  std::set<std::string_view> schemes;
  for (const TransportLine& line : TransportTable()) schemes.insert(line.scheme);
  EXPECT_EQ(schemes.size(), TransportTable().size());
  EXPECT_TRUE(schemes.contains("in-process"));
}

TEST(Transports, InProcessAddresses_AreServedOncePerObject) {
  EchoHandler handler;
  Transports one;
  Transports other;
  const auto server = one.Serve("in-process://a", handler);
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  EXPECT_EQ((*server)->address(), "in-process://a");
  EXPECT_EQ(one.Serve("in-process://a", handler).status(),
            FailedPreconditionError("serve in-process://a: it is served already"));
  EXPECT_EQ(CallAndWait(*one.Connect("in-process://a"), 1, "x")->view(), "x");
  EXPECT_EQ(CallAndWait(*other.Connect("in-process://a"), 1, "x").status(),
            UnavailableError("nobody serves in-process://a"));
}

TEST(Transports, AnAddressWithoutAScheme_BelongsToTheFirstLine) {
  Transports transports;
  EchoHandler handler;
  const bool grpc = TransportTable().front().scheme == "grpc";
  // gRPC says more than this, and in words of its own.
  const auto reply = CallAndWait(*transports.Connect("in-process:1"), 1, "x");
  EXPECT_EQ(reply.status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(reply.status() == UnavailableError("nobody serves in-process:1"), !grpc)
      << reply.status().ToString();
}

}  // namespace
}  // namespace pstrain
