#include "base/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace pstrain {
namespace {

TEST(BoundedQueue, Pop_AfterPushes_KeepsTheOrder) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.Push(1));
  EXPECT_TRUE(queue.Push(2));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

TEST(BoundedQueue, TryPush_WhenFull_LeavesTheItem) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  EXPECT_TRUE(queue.Push(std::make_unique<int>(1)));
  auto second = std::make_unique<int>(2);
  EXPECT_FALSE(queue.TryPush(second));
  ASSERT_NE(second, nullptr);
  queue.Pop();
  EXPECT_TRUE(queue.TryPush(second));
}

TEST(BoundedQueue, Close_WithItemsInside_LetsThemOutThenEnds) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  queue.Close();
  EXPECT_TRUE(queue.closed());
  EXPECT_FALSE(queue.Push(2));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueue, Stop_WithItemsInside_DropsThem) {
  BoundedQueue<std::shared_ptr<int>> queue(2);
  auto item = std::make_shared<int>(1);
  queue.Push(item);
  queue.Stop();
  EXPECT_EQ(item.use_count(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueue, PopFor_WhenEmpty_GivesUpAfterTheDuration) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.PopFor(std::chrono::nanoseconds(0)), std::nullopt);
  EXPECT_EQ(queue.PopFor(std::chrono::nanoseconds(-1)), std::nullopt);
  EXPECT_FALSE(queue.closed());
}

TEST(BoundedQueue, Close_WhenThreadsWait_WakesThemAll) {
  BoundedQueue<int> empty(1);
  BoundedQueue<int> full(1);
  full.Push(0);
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] { ended += empty.Pop() == std::nullopt ? 1 : 0; });
    threads.emplace_back([&] { ended += full.Push(1) ? 0 : 1; });
  }
  empty.Close();
  full.Close();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, 4);
}

TEST(BoundedQueue, ManyProducersAndConsumers_EachItemArrivesOnce) {
  constexpr int kThreads = 4;
  constexpr int kItems = 2000;
  BoundedQueue<int> queue(7);
  std::vector<std::atomic<int>> seen(kThreads * kItems);
  std::vector<std::thread> consumers;
  for (int t = 0; t < kThreads; ++t) {
    consumers.emplace_back([&] {
      while (const auto item = queue.Pop()) ++seen[static_cast<std::size_t>(*item)];
    });
  }
  std::vector<std::thread> producers;
  for (int t = 0; t < kThreads; ++t) {
    producers.emplace_back([&queue, t] {
      for (int i = 0; i < kItems; ++i) queue.Push(t * kItems + i);
    });
  }
  for (std::thread& thread : producers) thread.join();
  queue.Close();
  for (std::thread& thread : consumers) thread.join();
  for (const auto& count : seen) ASSERT_EQ(count, 1);
}

}  // namespace
}  // namespace pstrain
