#include "runtime/rpc/pending_calls.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

TEST(PendingCalls, WhenTheDeadlinePasses_FailsAndForgets) {
  PendingCalls pending;
  Replies replies(2);
  const std::uint64_t group = pending.NewGroup();
  const auto now = SteadyNow();
  pending.Add(group, now + std::chrono::milliseconds(20), replies.Callback(0));
  const auto id = pending.Add(group, now + std::chrono::milliseconds(1), replies.Callback(1));
  ASSERT_TRUE(replies.WaitForAll());
  EXPECT_EQ(replies.at(0).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(replies.at(1).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(pending.Contains(id));
  EXPECT_FALSE(pending.Complete(group, id, Bytes()));
}

TEST(PendingCalls, WhenItWasIdle_StillSeesANewDeadline) {
  PendingCalls pending;
  const std::uint64_t group = pending.NewGroup();
  for (int i = 0; i < 5; ++i) {
    Replies replies(1);
    pending.Add(group, SteadyNow() + std::chrono::milliseconds(5), replies.Callback(0));
    ASSERT_TRUE(replies.WaitForAll());
  }
}

TEST(PendingCalls, WhenALaterDeadlineIsAwaited_StillSeesAnEarlierOne) {
  PendingCalls pending;
  const std::uint64_t group = pending.NewGroup();
  Replies late(1);
  const auto id = pending.Add(group, SteadyNow() + std::chrono::hours(1), late.Callback(0));
  for (int i = 0; i < 5; ++i) {
    Replies early(1);
    pending.Add(group, SteadyNow() + std::chrono::milliseconds(5), early.Callback(0));
    ASSERT_TRUE(early.WaitForAll());
  }
  EXPECT_TRUE(pending.Complete(group, id, Bytes()));
}

TEST(PendingCalls, WhenAGroupFails_OthersStay) {
  PendingCalls pending;
  Replies failed(1);
  Replies kept(1);
  const std::uint64_t one = pending.NewGroup();
  const std::uint64_t other = pending.NewGroup();
  pending.Add(one, Soon(), failed.Callback(0));
  const auto id = pending.Add(other, Soon(), kept.Callback(0));
  pending.FailGroup(one, UnavailableError("gone"));
  ASSERT_TRUE(failed.WaitForAll());
  EXPECT_EQ(failed.at(0).status(), UnavailableError("gone"));
  EXPECT_FALSE(pending.Complete(one, id, Bytes()));
  EXPECT_TRUE(pending.Complete(other, id, Bytes::FromString("x")));
  EXPECT_EQ(kept.at(0)->view(), "x");
}

TEST(PendingCalls, WhenRacedFromManyThreads_EachEndsOnce) {
  constexpr std::size_t kCalls = 2000;
  PendingCalls pending;
  Replies replies(kCalls);
  const std::uint64_t group = pending.NewGroup();
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < kCalls; ++i) {
    const auto deadline = SteadyNow() + std::chrono::microseconds(i * 10);
    ids.push_back(pending.Add(group, deadline, replies.Callback(i)));
  }
  std::thread completer([&] {
    for (const auto id : ids) pending.Complete(group, id, Bytes());
  });
  std::thread breaker([&] { pending.FailGroup(group, UnavailableError("broke")); });
  completer.join();
  breaker.join();
  pending.WaitIdle(group);
  EXPECT_EQ(replies.arrived(), kCalls);
}

}  // namespace
}  // namespace pstrain
