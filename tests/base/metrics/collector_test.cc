#include "base/metrics/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pstrain {
namespace {

using ::testing::HasSubstr;

TEST(MetricsRegistry, Scrape_AsksForTheValuesOfNow) {
  MetricsRegistry registry;
  double value = 1;
  registry.Register([&value] {
    return std::vector<MetricFamily>{{"pstrain_steps_total",
                                      "Steps.",
                                      MetricType::kCounter,
                                      {{{{"role", "ps"}}, value, 0, {}}}}};
  });
  EXPECT_THAT(registry.Scrape(), HasSubstr("# TYPE pstrain_steps_total counter\n"
                                           "pstrain_steps_total{role=\"ps\"} 1\n"));
  value = 2;
  EXPECT_THAT(registry.Scrape(), HasSubstr("pstrain_steps_total{role=\"ps\"} 2\n"));
}

TEST(MetricsRegistry, Scrape_OfAHistogram_WritesItsParts) {
  MetricsRegistry registry;
  registry.Register([] {
    MetricSample sample;
    sample.value = 0.5;
    sample.count = 3;
    sample.buckets = {{0.1, 2}, {std::numeric_limits<double>::infinity(), 3}};
    return std::vector<MetricFamily>{{"x_seconds", "X.", MetricType::kHistogram, {sample}}};
  });
  const std::string text = registry.Scrape();
  EXPECT_THAT(text, HasSubstr("x_seconds_count 3\n"));
  EXPECT_THAT(text, HasSubstr("x_seconds_sum 0.5\n"));
  EXPECT_THAT(text, HasSubstr("x_seconds_bucket{le=\"0.1"));
  EXPECT_THAT(text, HasSubstr("x_seconds_bucket{le=\"+Inf\"} 3\n"));
}

TEST(MetricsRegistry, Collect_WithOneNameTwice_JoinsTheSamples) {
  MetricsRegistry registry;
  for (const double value : {1.0, 2.0}) {
    registry.Register([value] {
      return std::vector<MetricFamily>{{"a", "A.", MetricType::kGauge, {{{}, value, 0, {}}}}};
    });
  }
  registry.Register([] {
    return std::vector<MetricFamily>{{"a", "A.", MetricType::kCounter, {{{}, 3, 0, {}}}}};
  });
  const auto families = registry.Collect();
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].samples.size(), 2U);
}

TEST(MetricsRegistry, Scrape_WithoutCallbacks_IsEmpty) {
  EXPECT_EQ(MetricsRegistry().Scrape(), "");
}

}  // namespace
}  // namespace pstrain
