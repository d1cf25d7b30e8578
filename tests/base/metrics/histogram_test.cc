#include "base/metrics/histogram.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DurationHistogram, Empty_HasAllBuckets) {
  const MetricSample sample = DurationHistogram().Sample({{"a", "b"}});
  EXPECT_EQ(sample.count, 0U);
  ASSERT_EQ(sample.buckets.size(), 21U);
  EXPECT_DOUBLE_EQ(sample.buckets.front().upper_bound, 0.001);
  EXPECT_DOUBLE_EQ(sample.buckets[19].upper_bound, 524.288);
  EXPECT_TRUE(std::isinf(sample.buckets.back().upper_bound));
  EXPECT_EQ(sample.labels[0].value, "b");
}

TEST(DurationHistogram, Observations_FallIntoInclusiveCumulativeBuckets) {
  DurationHistogram histogram;
  histogram.Observe(milliseconds(1));  // the bound belongs to its bucket
  histogram.Observe(milliseconds(3));
  histogram.Observe(seconds(10'000));
  const MetricSample sample = histogram.Sample({});
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(sample.count, 3U);
  EXPECT_DOUBLE_EQ(sample.value, 10'000.004);
  EXPECT_EQ(sample.buckets[0].cumulative_count, 1U);
  EXPECT_EQ(sample.buckets[1].cumulative_count, 1U);
  EXPECT_EQ(sample.buckets[2].cumulative_count, 2U);
  EXPECT_EQ(sample.buckets[19].cumulative_count, 2U);
  EXPECT_EQ(sample.buckets[20].cumulative_count, 3U);
}

}  // namespace
}  // namespace pstrain
