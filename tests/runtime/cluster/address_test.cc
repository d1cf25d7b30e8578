#include "runtime/cluster/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(Address, SplitAndJoin_AreInverse) {
  for (const std::string address : {"chief-0.job:2222", "127.0.0.1:0", "[::1]:65535"}) {
    const auto parts = SplitAddress(address);
    ASSERT_TRUE(parts.ok()) << parts.status().ToString();
    EXPECT_EQ(JoinAddress(parts->host, parts->port), address);
  }
}

TEST(Address, WhenItIsNotHostPort_IsRefused) {
  for (const char* address : {"", "host", ":1", "host:", "host:x", "host:65536", "host:-1",
                              "host:1x", "::1:2222", "[]:1", "host:-0", "[[x]]:1", "x]:1"}) {
    EXPECT_EQ(SplitAddress(address).status().code(), StatusCode::kInvalidArgument) << address;
  }
}

TEST(Address, OfADataPlane_HasOneOfThreeForms) {
  for (const char* address : {"chief-0.job:2222", "[::1]:1", "grpc://10.0.0.7:4000", "unix:/run/x",
                              "in-process://ps 0"}) {
    const bool blank = std::string_view(address).find(' ') != std::string_view::npos;
    EXPECT_EQ(CheckTransportAddress(address).ok(), !blank) << address;
  }
  for (const char* address : {"", "host", "unix:", "://x", "grpc://", "GRPC://a:1", "a/b://c:1",
                              "grpc://a:1\n", "grpc://\xc3\xa9:1", "host:1\x7f"}) {
    EXPECT_EQ(CheckTransportAddress(address).code(), StatusCode::kInvalidArgument) << address;
  }
}

TEST(Address, Resolve_OfALiteral_IsItself) {
  const auto addresses = ResolveAddress("127.0.0.1:2222");
  ASSERT_TRUE(addresses.ok()) << addresses.status().ToString();
  EXPECT_THAT(*addresses, ::testing::ElementsAre("127.0.0.1:2222"));
}

TEST(Address, Resolve_OfAnUnknownName_IsUnavailable) {
  EXPECT_EQ(ResolveAddress("no-such-host.invalid:1").status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace pstrain
