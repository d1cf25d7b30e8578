#include "agent/page_metrics.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace pstrain {
namespace {

constexpr std::string_view kName = "pstrain_worker_step_duration_seconds";

void AddBucket(StatsPage& page, std::string_view labels, std::uint64_t count) {
  const StatDefinition slot{"key", kName, labels, "Time."};
  **page.Append(slot, StatType::kU64, StatKind::kHistogramBucket) = count;
}

void AddSum(StatsPage& page, std::string_view labels, double sum) {
  const StatDefinition slot{"key", kName, labels, "Time."};
  **page.Append(slot, StatType::kDouble, StatKind::kHistogramSum) =
      std::bit_cast<std::uint64_t>(sum);
}

std::vector<MetricFamily> Families(const StatsPage& page) {
  std::vector<MetricFamily> families;
  AppendPageMetrics(page, {{"job_name", "adult"}}, families);
  return families;
}

TEST(PageMetrics, WhenBucketsComeInAnyOrder_CountsAddUpByBound) {
  const auto page = StatsPage::Private().value();
  AddBucket(*page, R"(le="+Inf")", 1);
  AddBucket(*page, R"(le="5e-05")", 2);
  AddBucket(*page, R"(le="0.25")", 4);
  AddSum(*page, "", 1.5);

  const auto families = Families(*page);

  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].type, MetricType::kHistogram);
  ASSERT_EQ(families[0].samples.size(), 1U);
  const MetricSample& sample = families[0].samples[0];
  EXPECT_EQ(sample.count, 7U);
  EXPECT_EQ(sample.value, 1.5);
  ASSERT_EQ(sample.buckets.size(), 3U);
  EXPECT_EQ(sample.buckets[0].upper_bound, 0.00005);
  EXPECT_EQ(sample.buckets[0].cumulative_count, 2U);
  EXPECT_EQ(sample.buckets[1].cumulative_count, 6U);
  EXPECT_TRUE(std::isinf(sample.buckets[2].upper_bound));
  EXPECT_EQ(sample.buckets[2].cumulative_count, 7U);
  ASSERT_EQ(sample.labels.size(), 1U);
  EXPECT_EQ(sample.labels[0].name, "job_name");
}

TEST(PageMetrics, WhenLabelsDiffer_MakesOneSampleForEach) {
  const auto page = StatsPage::Private().value();
  AddBucket(*page, R"(method="pull",le="1")", 1);
  AddBucket(*page, R"(method="push",le="1")", 2);
  AddSum(*page, R"(method="push")", 0.5);

  const auto families = Families(*page);

  ASSERT_EQ(families.size(), 1U);
  ASSERT_EQ(families[0].samples.size(), 2U);
  EXPECT_EQ(families[0].samples[0].count, 1U);
  EXPECT_EQ(families[0].samples[1].count, 2U);
  EXPECT_EQ(families[0].samples[1].value, 0.5);
}

TEST(PageMetrics, WhenABucketHasNoUsableBound_LeavesItOut) {
  const auto page = StatsPage::Private().value();
  for (const std::string_view labels : {R"(le="")", R"(le="1x")", R"(le="nan")", "", R"(x="1")"}) {
    AddBucket(*page, labels, 9);
  }
  AddBucket(*page, R"(le="1")", 1);

  const auto families = Families(*page);

  ASSERT_EQ(families.size(), 1U);
  ASSERT_EQ(families[0].samples.size(), 1U);
  EXPECT_EQ(families[0].samples[0].count, 1U);
}

TEST(PageMetrics, WhenACounterHasAHistogramsName_LeavesItOut) {
  const auto page = StatsPage::Private().value();
  AddBucket(*page, R"(le="1")", 1);
  const StatDefinition counter{"other", kName, "", "Time."};
  ASSERT_TRUE(page->Append(counter, StatType::kU64, StatKind::kCounter).ok());

  const auto families = Families(*page);

  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].samples.size(), 1U);
}

}  // namespace
}  // namespace pstrain
