#include "operator/kube/rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace pstrain::kube {
namespace {

TEST(RateLimiter, NormalLane_NeverHasMoreThanItsPermitsUnderWay) {
  RateLimiter limiter({.per_second = 1e6, .burst = 1'000'000, .permits = 3});
  std::atomic<int> under_way{0};
  std::atomic<int> most{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int call = 0; call < 200; ++call) {
          const auto permit = limiter.Acquire(Lane::kNormal, {});
          if (!permit.ok()) return;
          const int now = under_way.fetch_add(1) + 1;
          int seen = most.load();
          while (seen < now && !most.compare_exchange_weak(seen, now)) {
          }
          std::this_thread::yield();
          under_way.fetch_sub(1);
        }
      });
    }
  }
  EXPECT_GE(most.load(), 1);
  EXPECT_LE(most.load(), 3);
}

TEST(RateLimiter, LeaseLane_DoesNotWaitForAFullNormalLaneOrAnEmptyBucket) {
  RateLimiter limiter({.per_second = 1e-6, .burst = 1, .permits = 1});
  const auto normal = limiter.Acquire(Lane::kNormal, {});
  ASSERT_TRUE(normal.ok());
  EXPECT_TRUE(limiter.Acquire(Lane::kLease, {}).ok());
  EXPECT_TRUE(limiter.Acquire(Lane::kLease, {}).ok());
}

TEST(RateLimiter, WithoutARate_StartsAsManyAsThereArePermitsFor) {
  RateLimiter limiter({.per_second = 0, .burst = 1, .permits = 1});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(limiter.Acquire(Lane::kNormal, {}).ok());
}

TEST(RateLimiter, Hold_KeepsTheNormalLaneWaitingAndNotTheLease) {
  RateLimiter limiter({.per_second = 0, .longest_hold = std::chrono::milliseconds(50)});
  const RealClock clock;
  const std::chrono::nanoseconds begin = clock.Now();
  limiter.Hold(std::chrono::hours(1));  // bounded
  EXPECT_TRUE(limiter.Acquire(Lane::kLease, {}).ok());
  EXPECT_TRUE(limiter.Acquire(Lane::kNormal, {}).ok());
  EXPECT_GE(clock.Now() - begin, std::chrono::milliseconds(50));
}

TEST(RateLimiter, Acquire_WhenStopped_IsCancelled) {
  RateLimiter limiter({.per_second = 1e-6, .burst = 1, .permits = 2});
  const auto first = limiter.Acquire(Lane::kNormal, {});
  ASSERT_TRUE(first.ok());
  std::stop_source stop;
  std::optional<StatusCode> code;
  std::jthread waiter(
      [&] { code = limiter.Acquire(Lane::kNormal, stop.get_token()).status().code(); });
  stop.request_stop();
  waiter.join();
  EXPECT_EQ(code, StatusCode::kCancelled);
}

TEST(RateLimiter, Acquire_WhenAPermitComesBack_GoesOn) {
  RateLimiter limiter({.per_second = 1e6, .burst = 100, .permits = 1});
  std::optional<Result<RateLimiter::Permit>> first(limiter.Acquire(Lane::kNormal, {}));
  std::atomic<bool> second{false};
  std::jthread waiter([&] { second = limiter.Acquire(Lane::kNormal, {}).ok(); });
  first.reset();
  waiter.join();
  EXPECT_TRUE(second.load());
}

}  // namespace
}  // namespace pstrain::kube
