#include "runtime/requests/partition_count.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace pstrain {
namespace {

TEST(PartitionCount, Fixed_IsNoMoreThanRows) {
  EXPECT_EQ(FixedShardsCount(10, 3), 3);
  EXPECT_EQ(FixedShardsCount(2, 3), 2);
  EXPECT_EQ(FixedShardsCount(0, 3), 0);
}

TEST(PartitionCount, MinSize_RoundsUp) {
  EXPECT_EQ(MinSizeCount(10, 4, 12, 10), 4);
  EXPECT_EQ(MinSizeCount(10, 4, 12, 2), 2);
  EXPECT_EQ(MinSizeCount(0, 4, 12, 2), 1);
  EXPECT_EQ(MinSizeCount(1 << 20, 1 << 20, std::numeric_limits<std::int64_t>::max(), 2), 1);
}

TEST(PartitionCount, MaxSize_HasOneRowAtLeast) {
  EXPECT_EQ(MaxSizeCount(7, 40, 100, 0), 4);
  EXPECT_EQ(MaxSizeCount(7, 40, 100, 3), 3);
  EXPECT_EQ(MaxSizeCount(7, 40, 1, 0), 7);
}

}  // namespace
}  // namespace pstrain
