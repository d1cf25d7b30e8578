#include "runtime/requests/partition_count.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "base/text/json.h"
#include "tests/testing/golden.h"

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

// Where a lookup with strategy "div" finds each id: in which part, and in which row of that.
TEST(PartitionRows, AgainstTensorFlow_DivideAsDivDoes) {
  const Json golden = ReadGolden("embedding.json");
  int cases = 0;
  for (const Json& one : golden.Find("routing")->items()) {
    if (*one.Find("strategy")->AsString() != "div") continue;
    ++cases;
    const std::int64_t rows = *one.Find("rows")->AsInt64();
    const std::int64_t count = *one.Find("shards")->AsInt64();
    const std::vector<Json>& sizes = one.Find("sizes")->items();
    for (std::int64_t part = 0; part < count; ++part) {
      EXPECT_EQ(PartitionRows(rows, count, part).size,
                *sizes[static_cast<std::size_t>(part)].AsInt64());
    }
    const std::vector<Json>& ids = one.Find("ids")->items();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::vector<Json>& found = one.Find("part_and_local")->items()[i].items();
      const std::int64_t part = static_cast<std::int64_t>(*found[0].AsDouble());
      const std::int64_t local = static_cast<std::int64_t>(*found[1].AsDouble());
      const RowRange range = PartitionRows(rows, count, part);
      EXPECT_EQ(range.begin + local, *ids[i].AsInt64());
      EXPECT_LT(local, range.size);
    }
  }
  EXPECT_GT(cases, 5);
}

}  // namespace
}  // namespace pstrain
