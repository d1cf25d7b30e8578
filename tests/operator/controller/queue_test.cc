#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/random.h"
#include "operator/controller/controller.h"
#include "operator/controller/queue_state.h"
#include "operator/controller/work_queue.h"

namespace pstrain::kube {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

ObjectKey Key(const std::string& name) { return {"ns", name}; }

TEST(QueueState, SameKeyTwice_IsTakenOnce) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(0), Priority::kNormal);
  queue.Add(Key("a"), seconds(0), Priority::kNormal);
  EXPECT_EQ(queue.Get(seconds(1))->key, Key("a"));
  queue.Done(Key("a"));
  EXPECT_FALSE(queue.Get(seconds(1)).has_value());
}

TEST(QueueState, EarlierRequest_Wins) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(100), Priority::kLow);
  queue.Add(Key("a"), seconds(5), Priority::kLow);
  queue.Add(Key("a"), seconds(50), Priority::kLow);
  EXPECT_EQ(queue.NextDue(), seconds(5));
  EXPECT_FALSE(queue.Get(seconds(4)).has_value());
  EXPECT_EQ(queue.Get(seconds(5))->ready_at, seconds(5));
}

TEST(QueueState, KeyAtWork_IsHeldAndRunsOnceMore) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(0), Priority::kNormal);
  ASSERT_TRUE(queue.Get(seconds(0)).has_value());
  queue.Add(Key("a"), seconds(9), Priority::kNormal);
  queue.Add(Key("a"), seconds(1), Priority::kNormal);
  EXPECT_FALSE(queue.Get(seconds(10)).has_value());
  queue.Done(Key("a"));
  EXPECT_EQ(queue.Get(seconds(10))->ready_at, seconds(1));
  queue.Done(Key("a"));
  EXPECT_FALSE(queue.NextDue().has_value());
}

TEST(QueueState, Changes_GoBeforeWhatAStartPutIn) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(0), Priority::kLow);
  queue.Add(Key("b"), seconds(0), Priority::kLow);
  queue.Add(Key("c"), seconds(1), Priority::kNormal);
  queue.Add(Key("b"), seconds(2), Priority::kNormal);
  EXPECT_EQ(queue.Get(seconds(3))->key, Key("b"));
  EXPECT_EQ(queue.Get(seconds(3))->key, Key("c"));
  EXPECT_EQ(queue.Get(seconds(3))->key, Key("a"));
}

TEST(QueueState, Backoff_DoublesPerKeyUpToTheCapAndIsForgotten) {
  QueueState queue({});
  EXPECT_EQ(queue.NextBackoff(Key("a")), milliseconds(5));
  EXPECT_EQ(queue.NextBackoff(Key("a")), milliseconds(10));
  EXPECT_EQ(queue.NextBackoff(Key("b")), milliseconds(5));
  for (int i = 0; i < 100; ++i) EXPECT_LE(queue.NextBackoff(Key("a")), seconds(1000));
  EXPECT_EQ(queue.NextBackoff(Key("a")), seconds(1000));
  queue.Forget(Key("a"));
  EXPECT_EQ(queue.NextBackoff(Key("a")), milliseconds(5));
  EXPECT_EQ(queue.NumRequeues(Key("b")), 1);
}

/// The rules again, as plainly as possible.
struct Model {
  std::map<ObjectKey, nanoseconds> wanted;
  std::set<ObjectKey> working;
};

TEST(QueueState, RandomHistories_AgreeWithTheModel) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    QueueState queue({});
    Model model;
    nanoseconds now{0};
    for (int step = 0; step < 200; ++step) {
      const ObjectKey key = Key(std::to_string(rng.Uniform(5)));
      now += nanoseconds(rng.Uniform(3));
      switch (rng.Uniform(3)) {
        case 0: {
          const nanoseconds due = now + nanoseconds(rng.Uniform(6));
          queue.Add(key, due, rng.Uniform(2) == 0 ? Priority::kNormal : Priority::kLow);
          const auto [at, is_new] = model.wanted.try_emplace(key, due);
          if (!is_new) at->second = std::min(at->second, due);
          break;
        }
        case 1: {
          const auto taken = queue.Get(now);
          bool any_due = false;
          for (const auto& [wanted, due] : model.wanted) {
            any_due = any_due || (due <= now && !model.working.contains(wanted));
          }
          ASSERT_EQ(taken.has_value(), any_due) << "seed " << seed;
          if (!taken) break;
          ASSERT_FALSE(model.working.contains(taken->key)) << "seed " << seed;
          ASSERT_EQ(model.wanted.at(taken->key), taken->ready_at) << "seed " << seed;
          model.wanted.erase(taken->key);
          model.working.insert(taken->key);
          break;
        }
        default:
          if (model.working.erase(key) > 0) queue.Done(key);
      }
      ASSERT_EQ(queue.working(), model.working.size()) << "seed " << seed;
    }
  }
}

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

TEST(Controller, ManyWorkers_NeverHaveOneKeyTwiceAtOnce) {
  WorkQueue queue("q", {});
  constexpr int kKeys = 5;
  std::array<std::atomic<int>, kKeys> active{};
  std::atomic<int> calls{0};
  std::atomic<bool> twice{false};
  std::stop_source stop;
  Controller controller("c", 4, queue, [&](const ObjectKey& key, const std::stop_token&) {
    std::atomic<int>& mine = active[std::stoul(key.name)];
    if (mine.fetch_add(1) != 0) twice = true;
    std::this_thread::yield();
    mine.fetch_sub(1);
    if (calls.fetch_add(1) == 2000) stop.request_stop();
    queue.Add(key);
    return Result<std::optional<nanoseconds>>(std::nullopt);
  });
  for (int i = 0; i < kKeys; ++i) queue.Add(Key(std::to_string(i)));
  controller.Run(stop.get_token());
  EXPECT_GT(calls.load(), 2000);
  EXPECT_FALSE(twice.load());
}

TEST(Controller, Results_BecomeRetriesRequeuesAndMetrics) {
  WorkQueue queue("q", {});
  std::stop_source stop;
  std::vector<std::string> order;
  Controller controller(
      "jobs", 1, queue,
      [&](const ObjectKey& key, const std::stop_token&) -> Result<std::optional<nanoseconds>> {
        order.push_back(key.name);
        if (order.size() == 1) return UnavailableError("try again");
        if (order.size() == 2) return std::optional<nanoseconds>(milliseconds(1));
        stop.request_stop();
        return std::optional<nanoseconds>();
      });
  queue.Add(Key("a"));
  controller.Run(stop.get_token());
  EXPECT_THAT(order, ::testing::ElementsAre("a", "a", "a"));
  MetricsRegistry registry;
  registry.Register([&] { return controller.Collect(); });
  const std::string page = registry.Scrape();
  for (const char* result : {"success", "requeue_after", "error"}) {
    EXPECT_THAT(page, HasSubstr("controller_runtime_reconcile_total{controller=\"jobs\",result=\"" +
                                std::string(result) + "\"} 1"));
  }
  EXPECT_THAT(page, HasSubstr("controller_runtime_reconcile_errors_total{controller=\"jobs\"} 1"));
  EXPECT_THAT(page, HasSubstr("controller_runtime_active_workers{controller=\"jobs\"} 0"));
}

}  // namespace
}  // namespace pstrain::kube
