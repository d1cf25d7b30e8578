#include "operator/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "operator/controller/work_queue.h"

namespace pstrain::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

ObjectKey Key(const std::string& name) { return {"ns", name}; }

TEST(Controller, ManyWorkers_NeverHaveOneKeyTwiceConcurrently) {
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
