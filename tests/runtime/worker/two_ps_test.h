#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/rpc/in_process/in_process_transport.h"
#include "runtime/worker/ps_client.h"
#include "tests/runtime/worker/ps_fixture.h"

namespace pstrain {

/// Two ps that own all shards of SampleVariables in SampleMembership's terms, and a client of them,
/// in this process.
class TwoPsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(ps_[i].configured.ok()) << ps_[i].configured.ToString();
      Serve(i, kAddresses[i]);
    }
    ASSERT_TRUE(ps_[0].Own({0, 2}, kSampleTerm).ok());
    ASSERT_TRUE(ps_[1].Own({1, 3}, kSampleTerm).ok());
    auto client = PsClient::Create(SampleVariables(), kShards, network_);
    ASSERT_TRUE(client.ok()) << client.status().ToString();
    client_ = std::move(client).value();
  }
  void TearDown() override {
    client_.reset();
    for (TestPs& ps : ps_) ps.engine.reset();
  }

  void Serve(std::size_t ps, const std::string& address) {
    auto server = network_.Serve(address, ps_[ps].handler);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    servers_[ps] = std::move(server).value();
  }

  inline static const std::vector<std::string> kAddresses = {"ps0:1", "ps1:1"};
  TestPs ps_[2];
  InProcessTransport network_;
  std::unique_ptr<TransportServer> servers_[2];
  std::unique_ptr<PsClient> client_;
};

}  // namespace pstrain
