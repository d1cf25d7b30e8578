#include "cli/cluster/agents/metrics_text.h"

#include <gtest/gtest.h>

namespace pstrain::cluster {
namespace {

constexpr std::string_view kPage =
    "# HELP a_total What\n# TYPE a_total counter\n"
    "a_total{phase=\"x\",n=\"1\"} 1.5\na_total{phase=\"y\",n=\"2\"} 2\n"
    "a_total_more 100\nplain 7e+06\nunknown{x=\"y\"} NaN\nlast 3";

TEST(MetricsText, Value_IsTheSumOfTheSeriesMeant) {
  EXPECT_EQ(MetricValue(kPage, "a_total"), 3.5);
  EXPECT_EQ(MetricValue(kPage, "a_total", "phase=\"y\""), 2);
  EXPECT_EQ(MetricValue(kPage, "plain"), 7e6);
  EXPECT_EQ(MetricValue(kPage, "last"), 3);
}

TEST(MetricsText, Value_OfWhatIsNotThere_IsNothing) {
  EXPECT_FALSE(MetricValue(kPage, "a"));
  EXPECT_FALSE(MetricValue(kPage, "a_total", "phase=\"z\""));
  EXPECT_FALSE(MetricValue(kPage, "plain", "phase=\"y\""));
  EXPECT_FALSE(MetricValue(kPage, "unknown"));
  EXPECT_FALSE(MetricValue("", "a"));
}

}  // namespace
}  // namespace pstrain::cluster
