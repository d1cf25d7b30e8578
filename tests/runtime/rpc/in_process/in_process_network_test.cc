#include "runtime/rpc/in_process/in_process_network.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

TEST(InProcessNetwork, WhenServed_AnswersAndPassesErrorsOn) {
  InProcessNetwork network;
  EchoHandler handler;
  network.Serve("a:1", handler);
  const auto transport = network.Connect("a:1");
  EXPECT_EQ(CallAndWait(*transport, 1, "hello")->view(), "hello");
  EXPECT_EQ(CallAndWait(*transport, 2, "no").status(), AbortedError("no"));
}

TEST(InProcessNetwork, WhenNobodyServes_IsUnavailable) {
  InProcessNetwork network;
  const auto transport = network.Connect("a:1");
  EXPECT_EQ(CallAndWait(*transport, 1, "x").status().code(), StatusCode::kUnavailable);
}

TEST(InProcessNetwork, WhenTheServerGoes_OutstandingCallsFailAndTheNextServerAnswers) {
  InProcessNetwork network;
  EchoHandler first;
  EchoHandler second;
  network.Serve("a:1", first);
  const auto transport = network.Connect("a:1");
  Replies replies(1);
  transport->Call(3, {}, Soon(), replies.Callback(0));
  network.Remove("a:1");
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_EQ(replies.at(0).status().code(), StatusCode::kUnavailable);
  first.Release();
  network.Serve("a:1", second);
  EXPECT_EQ(CallAndWait(*transport, 1, "again")->view(), "again");
}

TEST(InProcessNetwork, WhenTheHandlerDropsARequest_IsInternal) {
  InProcessNetwork network;
  EchoHandler handler;
  network.Serve("a:1", handler);
  const auto transport = network.Connect("a:1");
  Replies replies(1);
  transport->Call(3, {}, Soon(), replies.Callback(0));
  handler.Drop();
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_EQ(replies.at(0).status().code(), StatusCode::kInternal);
}

TEST(InProcessNetwork, WhenClosed_CallsAreCancelled) {
  InProcessNetwork network;
  EchoHandler handler;
  network.Serve("a:1", handler);
  const auto transport = network.Connect("a:1");
  Replies replies(1);
  transport->Call(3, {}, Soon(), replies.Callback(0));
  transport->Close();
  EXPECT_EQ(replies.at(0).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(CallAndWait(*transport, 1, "x").status().code(), StatusCode::kCancelled);
  handler.Release();
}

TEST(InProcessNetwork, WhenManyThreadsCallWhileServersChange_EveryCallEndsOnce) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kCalls = 300;
  InProcessNetwork network;
  EchoHandler handler;
  network.Serve("a:1", handler);
  const auto transport = network.Connect("a:1");
  Replies replies(kThreads * kCalls);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kCalls; ++i) {
        transport->Call(i % 3 == 0 ? 3 : 1, {Bytes::FromString("x")}, Soon(),
                        replies.Callback(t * kCalls + i));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    network.Remove("a:1");
    network.Serve("a:1", handler);
  }
  for (auto& thread : threads) thread.join();
  handler.Release();
  EXPECT_TRUE(replies.WaitForAll());
}

}  // namespace
}  // namespace pstrain
