#include "library/coordinator/metric_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace pstrain {
namespace {

TEST(MetricTable, WhenClosuresEndInAnyOrder_TheSumIsTheSame) {
  // Added in another order these round to another sum.
  const std::vector<double> numbers = {1e16, 1, -1e16, 1};
  const auto sum_of = [&numbers](const std::vector<std::uint64_t>& order, bool settles) {
    MetricTable table;
    std::vector<bool> ended(numbers.size());
    for (const std::uint64_t closure : order) {
      ended[closure] = true;
      std::uint64_t settled = 0;
      while (settles && settled < ended.size() && ended[settled]) ++settled;
      table.Add(closure, {{"loss", numbers[closure], 1}}, settled);
    }
    return table.Get("loss");
  };
  const MetricSum in_order = sum_of({0, 1, 2, 3}, true);
  EXPECT_EQ(in_order.denominator, 4);
  EXPECT_EQ(sum_of({3, 2, 1, 0}, true), in_order);
  EXPECT_EQ(sum_of({1, 0, 3, 2}, true), in_order);
  EXPECT_EQ(sum_of({2, 3, 0, 1}, false), in_order);
}

TEST(MetricTable, WhenReset_WhatWasScheduledBeforeDoesNotCount) {
  MetricTable table;
  table.Add(0, {{"loss", 5, 1}, {"accuracy", 1, 1}}, 1);
  table.Add(2, {{"loss", 6, 1}}, 1);
  table.Reset("loss", 4);
  EXPECT_EQ(table.Get("loss"), (MetricSum{"loss", 0, 0}));
  table.Add(3, {{"loss", 7, 1}}, 1);
  table.Add(4, {{"loss", 8, 2}}, 1);
  EXPECT_EQ(table.Get("loss"), (MetricSum{"loss", 8, 2}));
  EXPECT_EQ(table.Get("accuracy"), (MetricSum{"accuracy", 1, 1}));
  EXPECT_EQ(table.Get("absent"), (MetricSum{"absent", 0, 0}));
}

// A mark keeps what was added behind it.
TEST(MetricTable, WhenACallThatOthersWaitForFails_AllOthersCount) {
  MetricTable table;
  table.Add(1, {{"loss", 5, 1}}, 0);
  EXPECT_EQ(table.All(), (std::vector<MetricSum>{{"loss", 5, 1}}));
}

TEST(MetricTable, WhenRestored_ItGoesOnFromWhatAllHad) {
  MetricTable table;
  table.Add(0, {{"loss", 5, 1}, {"accuracy", 1, 2}}, 1);
  table.Add(1, {{"loss", 0.1, 1}}, 2);
  MetricTable next;
  next.Restore(table.All());
  EXPECT_EQ(next.All(), table.All());
  next.Add(2, {{"loss", 1, 1}}, 3);
  EXPECT_EQ(next.Get("loss"), (MetricSum{"loss", 5 + 0.1 + 1, 3}));
}

}  // namespace
}  // namespace pstrain
