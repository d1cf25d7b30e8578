#include "operator/controller/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

namespace pstrain::kube {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

ObjectKey Key(const std::string& name) { return {"ns", name}; }

TEST(WorkQueue, Get_WhenADelayEnds_GivesTheKey) {
  WorkQueue queue("q", {});
  queue.AddAfter(Key("later"), hours(1));
  queue.AddAfter(Key("a"), milliseconds(1));
  EXPECT_EQ(queue.Get({}), Key("a"));
  queue.Done(Key("a"));
}

TEST(WorkQueue, Get_WhenSomethingEarlierComes_WakesForIt) {
  WorkQueue queue("q", {});
  queue.AddAfter(Key("a"), hours(1));
  std::optional<ObjectKey> taken;
  std::jthread taker([&] { taken = queue.Get({}); });
  queue.Add(Key("a"));
  taker.join();
  EXPECT_EQ(taken, Key("a"));
}

TEST(WorkQueue, Get_WhenStopped_IsEmpty) {
  WorkQueue queue("q", {});
  std::stop_source stop;
  std::optional<ObjectKey> taken = Key("x");
  std::jthread taker([&] { taken = queue.Get(stop.get_token()); });
  stop.request_stop();
  taker.join();
  EXPECT_FALSE(taken.has_value());
}

TEST(WorkQueue, AbsurdDelays_AreClamped) {
  WorkQueue queue("q", {});
  queue.AddAfter(Key("never"), nanoseconds::max());
  queue.AddAfter(Key("a"), nanoseconds::min());
  EXPECT_EQ(queue.Get({}), Key("a"));
}

TEST(WorkQueue, Metrics_HaveClientGosNames) {
  WorkQueue queue("jobs", {});
  queue.Add(Key("a"));
  queue.Add(Key("b"));
  queue.Get({});
  queue.AddRateLimited(Key("a"));
  MetricsRegistry registry;
  registry.Register([&] { return queue.Collect(); });
  const std::string page = registry.Scrape();
  EXPECT_THAT(page, HasSubstr(R"(workqueue_adds_total{name="jobs"} 3)"));
  EXPECT_THAT(page, HasSubstr(R"(workqueue_retries_total{name="jobs"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(workqueue_depth{name="jobs"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(workqueue_queue_duration_seconds_count{name="jobs"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(workqueue_work_duration_seconds_count{name="jobs"} 0)"));
}

}  // namespace
}  // namespace pstrain::kube
