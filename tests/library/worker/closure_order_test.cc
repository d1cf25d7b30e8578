#include "library/worker/closure_order.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace pstrain {
namespace {

void End(ClosureOrder& order, std::uint64_t place) { order.End(std::array{place}); }

TEST(ClosureOrder, WhenFewBeganBefore_NobodyWaits) {
  ClosureOrder order;
  const std::uint64_t first = order.Begin();
  const std::uint64_t second = order.Begin();
  order.Begin();
  EXPECT_TRUE(order.WaitForThoseBefore(first, 0));
  EXPECT_TRUE(order.WaitForThoseBefore(second, 1));
}

TEST(ClosureOrder, WhenMoreBeganBefore_WaitsUntilTheyHaveEnded) {
  ClosureOrder order;
  std::vector<std::uint64_t> places;
  for (int i = 0; i < 4; ++i) places.push_back(order.Begin());
  std::atomic<int> ended = 0;
  std::jthread reader([&] {
    EXPECT_TRUE(order.WaitForThoseBefore(places[3], 1));
    EXPECT_EQ(ended, 2);
  });
  // One that began later does not count.
  End(order, order.Begin());
  ended = 1;
  End(order, places[1]);
  ended = 2;
  End(order, places[0]);
}

TEST(ClosureOrder, WhenGivenUp_NobodyWaits) {
  ClosureOrder order;
  order.Begin();
  const std::uint64_t place = order.Begin();
  std::jthread reader([&] { EXPECT_FALSE(order.WaitForThoseBefore(place, 0)); });
  order.GiveUp();
}

}  // namespace
}  // namespace pstrain
