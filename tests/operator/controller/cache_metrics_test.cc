#include "operator/controller/cache_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "operator/controller/informer.h"
#include "tests/operator/job/metric_values.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::kube {
namespace {

TEST(CacheMetrics, CountObjectsAndWhyWatchesBeganAgain) {
  const RealClock clock;
  ApiFixture api;
  api.server().Put(PodResource(), TestObject("a"));
  api.server().Put(PodResource(), TestObject("b"));
  const Informer<int> pods(api.client(), api.pause(), clock, PodResource(), {},
                           {.decode = [](const Json&) { return Result<int>(0); },
                            .annotation_prefixes = {},
                            .on_change = nullptr});
  const auto collect = [&] {
    return testing::ValuesOf(
        CollectCaches({{.watcher = &pods.watcher(), .objects = pods.store().size()}}));
  };
  const auto reached = [&](const std::string& series, double value) {
    return api.server().WaitUntil([&] { return collect()[series] >= value; });
  };
  EXPECT_TRUE(reached("pstrain_operator_cache_objects{kind=Pod}", 2));
  const std::string restarts = "pstrain_operator_watch_restarts_total{kind=Pod,reason=";
  for (const char* reason : {"ended", "expired", "error"}) {
    EXPECT_EQ(collect().count(restarts + reason + "}"), 1U) << "there from the start";
  }
  EXPECT_EQ(collect()[restarts + "expired}"], 0);
  ASSERT_TRUE(api.server().WaitForWatches("pods", 1));
  api.server().EndWatches();
  EXPECT_TRUE(reached(restarts + "ended}", 1));
  ASSERT_TRUE(api.server().WaitForWatches("pods", 2));
  api.server().ExpireVersions();
  EXPECT_TRUE(reached(restarts + "expired}", 1));
}

}  // namespace
}  // namespace pstrain::kube
