#include "runtime/rpc/in_process/in_process_transport.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

// transport_test.cc has what this transport shares with the others.

TEST(InProcessTransport, WhenManyThreadsCallWhileServersChange_EveryCallEndsOnce) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kCalls = 300;
  InProcessTransport transport;
  EchoHandler handler;
  auto server = transport.Serve("a", handler);
  const auto connection = transport.Connect("a");
  Replies replies(kThreads * kCalls);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kCalls; ++i) {
        connection->Call(i % 3 == 0 ? 3 : 1, {Bytes::FromString("x")}, Soon(),
                         replies.Callback(t * kCalls + i));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    std::move(server).value().reset();
    server = transport.Serve("a", handler);
  }
  for (auto& thread : threads) thread.join();
  handler.Release();
  EXPECT_TRUE(replies.WaitForAll());
}

}  // namespace
}  // namespace pstrain
