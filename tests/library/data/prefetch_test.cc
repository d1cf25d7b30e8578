#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "library/data/transforms.h"

namespace pstrain::program {
namespace {

using ::testing::HasSubstr;

/// 0, 1, ... It remembers what was asked for, and fails at one element.
class Numbers final : public DataNode {
 public:
  explicit Numbers(std::optional<std::uint64_t> size) : size_(size) {}

  std::optional<std::uint64_t> size() const override { return size_; }
  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    {
      const MutexLock lock(mutex_);
      asked_.insert(index);
      ++count_;
    }
    if (index == fails_at) return DataLossError("element is damaged");
    if (size_ && index >= *size_) return std::optional<Element>();
    return std::optional(Element{{"value", static_cast<std::int64_t>(100 * pass + index)}});
  }
  bool Asked(std::uint64_t index) const {
    const MutexLock lock(mutex_);
    return asked_.contains(index);
  }
  int count() const {
    const MutexLock lock(mutex_);
    return count_;
  }

  std::uint64_t fails_at = std::numeric_limits<std::uint64_t>::max();

 private:
  const std::optional<std::uint64_t> size_;
  mutable Mutex mutex_;
  mutable std::set<std::uint64_t> asked_ PSTRAIN_GUARDED_BY(mutex_);
  mutable int count_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

class PrefetchTest : public testing::Test {
 protected:
  explicit PrefetchTest(std::optional<std::uint64_t> size = 50)
      : numbers_(std::make_shared<Numbers>(size)) {}

  void Open(std::int64_t buffer = 4) {
    const Result<DataNodePtr> opened = OpenPrefetch(numbers_, buffer);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    prefetched_ = *opened;
  }
  /// -1: there is no such element.
  std::int64_t Value(std::uint64_t index, std::uint64_t pass = 0) {
    const auto element = prefetched_->Get(pass, index);
    EXPECT_TRUE(element.ok()) << element.status().ToString();
    if (!element.ok() || !*element) return -1;
    return *(*element)->scalar<std::int64_t>("value");
  }
  /// Without being asked by the test, after a while.
  bool IsMade(std::uint64_t index) const {
    const SteadyTime end = SteadyNow() + std::chrono::seconds(60);
    while (!numbers_->Asked(index)) {
      if (SteadyNow() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  const std::shared_ptr<Numbers> numbers_;
  DataNodePtr prefetched_;
};

TEST_F(PrefetchTest, WhateverIsMadeAhead_ElementsAreTheSame) {
  Open();
  EXPECT_EQ(prefetched_->size(), 50U);
  for (std::uint64_t pass : {0U, 1U}) {
    for (std::uint64_t i = 0; i < 50; ++i) {
      EXPECT_EQ(Value(i, pass), static_cast<std::int64_t>(100 * pass + i));
    }
    EXPECT_EQ(Value(50, pass), -1);
  }
  for (const std::uint64_t i : {7U, 3U, 3U, 49U, 0U, 8U}) {
    EXPECT_EQ(Value(i), static_cast<std::int64_t>(i));
  }
}

TEST_F(PrefetchTest, WhenReadInOrder_TheNextOnesAreMadeAndNoneTwice) {
  Open();
  for (std::uint64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(Value(i), static_cast<std::int64_t>(i));
    ASSERT_TRUE(IsMade(i + 1));
  }
  // It was right each time, so that the buffer is as full as it may be.
  ASSERT_TRUE(IsMade(43));
  EXPECT_FALSE(numbers_->Asked(45)) << "beyond the buffer";
  EXPECT_EQ(numbers_->count(), 44);
}

TEST_F(PrefetchTest, WhenOthersTakeTheirTurns_EveryThirdIsMade) {
  Open();
  EXPECT_EQ(Value(2), 2);
  EXPECT_EQ(Value(5), 5);
  for (std::uint64_t i = 8; i < 30; i += 3) {
    ASSERT_TRUE(IsMade(i));
    EXPECT_EQ(Value(i), static_cast<std::int64_t>(i));
  }
  EXPECT_FALSE(numbers_->Asked(10));
  EXPECT_FALSE(numbers_->Asked(21));
}

TEST_F(PrefetchTest, WhenAnElementFails_WhoAsksForItGetsTheError) {
  numbers_->fails_at = 2;
  Open();
  EXPECT_EQ(Value(0), 0);
  EXPECT_EQ(Value(1), 1);
  ASSERT_TRUE(IsMade(2));
  EXPECT_EQ(prefetched_->Get(0, 2).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(prefetched_->Get(0, 2).status().code(), StatusCode::kDataLoss) << "it is tried again";
  EXPECT_EQ(Value(3), 3);
}

TEST_F(PrefetchTest, WhenSeveralThreadsRead_EachElementComesToWhoAsksForIt) {
  Open(8);
  std::atomic<std::uint64_t> next = 0;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::uint64_t i = next++; i < 50; i = next++) {
          const auto element = prefetched_->Get(0, i);
          const bool right =
              element.ok() && *element &&
              *(*element)->scalar<std::int64_t>("value") == static_cast<std::int64_t>(i);
          if (!right) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(PrefetchTest, WhenTheBufferIsZero_NothingIsMadeAhead) {
  Open(0);
  EXPECT_EQ(prefetched_, numbers_);
  Open(-1);
  EXPECT_EQ(Value(0), 0);
  EXPECT_TRUE(IsMade(1)) << "the library chooses";
  const Status negative = OpenPrefetch(numbers_, -2).status();
  EXPECT_EQ(negative.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(negative.message(), HasSubstr("Prefetch: the buffer size is -2"));
}

class EndlessPrefetchTest : public PrefetchTest {
 protected:
  EndlessPrefetchTest() : PrefetchTest(std::nullopt) {}
};

TEST_F(EndlessPrefetchTest, WhenTheSizeIsNotKnown_ElementsAreMadeAhead) {
  Open();
  EXPECT_EQ(prefetched_->size(), std::nullopt);
  EXPECT_EQ(Value(0), 0);
  ASSERT_TRUE(IsMade(1));
  EXPECT_EQ(Value(1), 1);
}

}  // namespace
}  // namespace pstrain::program
