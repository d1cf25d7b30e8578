#include "runtime/rpc/transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/rpc/transports.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

/// Where the suite serves, by scheme. A new transport needs a line here.
const std::map<std::string, std::vector<std::string>>& AddressesByScheme() {
  static const std::map<std::string, std::vector<std::string>> addresses = {
      {"grpc",
       {"127.0.0.1:0", "grpc://127.0.0.1:0",
        "unix:" + ::testing::TempDir() + "transport_test." + std::to_string(getpid())}},
      {"in-process", {"in-process://peer"}}};
  return addresses;
}

std::vector<std::string> AllAddresses() {
  std::vector<std::string> all;
  for (const TransportLine& line : TransportTable()) {
    const auto it = AddressesByScheme().find(std::string(line.scheme));
    if (it != AddressesByScheme().end())
      all.insert(all.end(), it->second.begin(), it->second.end());
  }
  return all;
}

TEST(TransportTable, EveryTransportIsTested) {
  for (const TransportLine& line : TransportTable()) {
    EXPECT_TRUE(AddressesByScheme().contains(std::string(line.scheme))) << line.scheme;
  }
}

/// What transport.h promises, of every transport.
class TransportTest : public ::testing::TestWithParam<std::string> {
 protected:
  void StartServer() { StartServer(GetParam()); }
  void StartServer(const std::string& address) {
    auto server = transports_.Serve(address, handler_);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
    address_ = server_->address();
  }
  std::unique_ptr<Connection> Connect() { return transports_.Connect(address_); }

  Transports transports_;
  EchoHandler handler_;
  std::unique_ptr<TransportServer> server_;
  /// What the server says of itself.
  std::string address_;
};

TEST_P(TransportTest, WhenCalled_AnswersAndPassesErrorsOn) {
  StartServer();
  const auto connection = Connect();
  EXPECT_EQ(CallAndWait(*connection, 1, "hello")->view(), "hello");
  EXPECT_EQ(CallAndWait(*connection, 1, "")->view(), "");
  EXPECT_EQ(CallAndWait(*connection, 2, "no").status(), AbortedError("no"));
}

TEST_P(TransportTest, WhenManyAreOutstanding_EachGetsItsReply) {
  constexpr std::size_t kCalls = 2000;
  StartServer();
  const auto connection = Connect();
  Replies replies(kCalls);
  for (std::size_t i = 0; i < kCalls; ++i) {
    connection->Call(1, {Bytes::FromString("body "), Bytes::FromString(std::to_string(i))}, Soon(),
                     replies.Callback(i));
  }
  ASSERT_TRUE(replies.WaitForAll());
  for (std::size_t i = 0; i < kCalls; ++i) {
    ASSERT_TRUE(replies.at(i).ok()) << replies.at(i).status().ToString();
    EXPECT_EQ(replies.at(i)->view(), "body " + std::to_string(i));
  }
}

TEST_P(TransportTest, WhenAnEarlierCallIsNotAnswered_LaterOnesAre) {
  StartServer();
  const auto connection = Connect();
  Replies first(1);
  connection->Call(3, {Bytes::FromString("slow")}, Soon(), first.Callback(0));
  EXPECT_EQ(CallAndWait(*connection, 1, "fast")->view(), "fast");
  EXPECT_EQ(first.arrived(), 0u);
  handler_.Release();
  ASSERT_TRUE(first.WaitForAll());
  EXPECT_EQ(first.at(0)->view(), "slow");
}

TEST_P(TransportTest, WhenTheBodyIs64MiB_ArrivesAlignedAndUnchanged) {
  StartServer();
  const auto connection = Connect();
  std::vector<std::uint32_t> values((std::size_t{64} << 20) / sizeof(std::uint32_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(i * 2654435761u);
  }
  const Bytes body = Bytes::FromVector(std::move(values));
  Replies replies(1);
  connection->Call(1, {body}, Soon(), replies.Callback(0));
  ASSERT_TRUE(replies.WaitForAll());
  const auto reply = replies.at(0);
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  ASSERT_EQ(reply->size(), body.size());
  EXPECT_EQ(std::memcmp(reply->data(), body.data(), body.size()), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reply->data()) % kBytesAlignment, 0u);
}

TEST_P(TransportTest, WhenTheReplyIsLate_FailsByItsDeadlineAndTheConnectionStillWorks) {
  StartServer();
  const auto connection = Connect();
  const auto reply = CallAndWait(*connection, 3, "slow", std::chrono::milliseconds(50));
  EXPECT_EQ(reply.status().code(), StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(handler_.WaitForKept(1));
  handler_.Release();
  EXPECT_EQ(CallAndWait(*connection, 1, "next")->view(), "next");
}

TEST_P(TransportTest, WhenTheHandlerDropsARequest_IsInternal) {
  StartServer();
  const auto connection = Connect();
  Replies replies(1);
  connection->Call(3, {}, Soon(), replies.Callback(0));
  ASSERT_TRUE(handler_.WaitForKept(1));
  handler_.Drop();
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_EQ(replies.at(0).status().code(), StatusCode::kInternal);
}

TEST_P(TransportTest, WhenNobodyServes_IsUnavailable) {
  StartServer();
  server_.reset();
  const auto connection = Connect();
  EXPECT_EQ(CallAndWait(*connection, 1, "x").status().code(), StatusCode::kUnavailable);
}

TEST_P(TransportTest, WhenTheServerComesBack_OutstandingCallsHaveFailedAndLaterOnesReachIt) {
  StartServer();
  const auto connection = Connect();
  Replies replies(8);
  for (std::size_t i = 0; i < 8; ++i) {
    connection->Call(3, {Bytes::FromString("lost")}, Soon(), replies.Callback(i));
  }
  ASSERT_TRUE(handler_.WaitForKept(8));
  server_.reset();
  ASSERT_TRUE(replies.WaitForAll());
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(replies.at(i).status().code(), StatusCode::kUnavailable);
  }
  handler_.Release();  // replies to a peer that is gone
  StartServer(address_);
  const auto deadline = Soon();
  Result<Bytes> reply = CallAndWait(*connection, 1, "back");
  // A transport may wait before it connects again.
  while (reply.status().code() == StatusCode::kUnavailable && SteadyNow() < deadline) {
    reply = CallAndWait(*connection, 1, "back");
  }
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->view(), "back");
}

TEST_P(TransportTest, WhenClosedWithCallsOutstanding_TheyAreCancelledBeforeCloseReturns) {
  StartServer();
  const auto connection = Connect();
  Replies replies(4);
  for (std::size_t i = 0; i < 4; ++i) connection->Call(3, {}, Soon(), replies.Callback(i));
  ASSERT_TRUE(handler_.WaitForKept(4));
  connection->Close();
  ASSERT_EQ(replies.arrived(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(replies.at(i).status().code(), StatusCode::kCancelled);
  }
  EXPECT_EQ(CallAndWait(*connection, 1, "x").status().code(), StatusCode::kCancelled);
  connection->Close();
  handler_.Release();
}

TEST_P(TransportTest, WhenOneConnectionCloses_AnotherIsStillServed) {
  StartServer();
  const auto first = Connect();
  const auto second = Connect();
  Replies replies(1);
  second->Call(3, {Bytes::FromString("kept")}, Soon(), replies.Callback(0));
  EXPECT_EQ(CallAndWait(*first, 1, "x")->view(), "x");
  first->Close();
  ASSERT_TRUE(handler_.WaitForKept(1));
  handler_.Release();
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_EQ(replies.at(0)->view(), "kept");
}

TEST_P(TransportTest, WhenACallbackCallsAgain_ItIsServed) {
  StartServer();
  const auto connection = Connect();
  Replies replies(1);
  connection->Call(1, {}, Soon(), [&](const Result<Bytes>& first) {
    ASSERT_TRUE(first.ok());
    connection->Call(1, {Bytes::FromString("second")}, Soon(), replies.Callback(0));
  });
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_EQ(replies.at(0)->view(), "second");
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.find_last_of(":/"));
  if (info.param.starts_with("unix:")) name = "unix";
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Every, TransportTest, ::testing::ValuesIn(AllAddresses()), NameOf);

}  // namespace
}  // namespace pstrain
