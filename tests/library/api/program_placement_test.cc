// ScheduleOptions: which worker a call goes to, and what it comes before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

Mutex order_mutex;
std::vector<std::int64_t> order PSTRAIN_GUARDED_BY(order_mutex);

Result<Values> AddHere(Step& step, std::int64_t amount) {
  step.Add(kCount, amount);
  const MutexLock lock(order_mutex);
  order.push_back(amount);
  return Values{{"worker", step.worker_index()}};
}
const Function kAddHere{"AddHere", AddHere};

class PlacementTest : public CoordinatorFixture {
 protected:
  PlacementTest() {
    const MutexLock lock(order_mutex);
    order.clear();
  }
  RemoteValue ScheduleWith(const ScheduleOptions& options, std::int64_t amount) {
    const auto scheduled = coordinator().Schedule(options, kAddHere, amount);
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    return *scheduled;
  }
};

TEST_F(PlacementTest, WhileTheWorkersAreThere_EachRunsWhatIsForIt) {
  Start({.ps = 2, .workers = 3, .shards = 3});
  // A worker runs two and is granted some ahead: when six have begun, all workers are there.
  gate_is_open = false;
  for (int i = 0; i < 100; ++i) Schedule(kHoldAndAdd, 0);
  AwaitAtTheGate(6);
  gate_is_open = true;
  std::vector<RemoteValue> values;
  for (std::int64_t i = 0; i < 300; ++i) {
    values.push_back(i % 4 == 3 ? ScheduleWith({}, 1) : ScheduleWith({.worker = i % 4}, 1));
  }
  EXPECT_EQ(Count(), 300);
  for (std::int64_t i = 0; i < 300; ++i) {
    const Result<Values> value = values[static_cast<std::size_t>(i)].Fetch(kSoon);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    if (i % 4 != 3) {
      EXPECT_EQ(*value->scalar<std::int64_t>("worker"), i % 4);
    }
  }
}

// What the worker has been granted already is not overtaken.
TEST_F(PlacementTest, AHigherPriorityRunsBeforeWhatWasScheduledEarlier) {
  StartOneWorker(1);
  gate_is_open = false;
  for (int i = 0; i < 100; ++i) Schedule(kHoldAndAdd, 0);
  AwaitAtTheGate(1);
  for (std::int64_t i = 0; i < 10; ++i) ScheduleWith({.priority = static_cast<int>(i)}, i);
  gate_is_open = true;
  EXPECT_EQ(Count(), 45);
  const MutexLock lock(order_mutex);
  EXPECT_EQ(order, (std::vector<std::int64_t>{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST_F(PlacementTest, AWorkerThatTheStrategyDoesNotHave_IsRefused) {
  Start();
  for (const std::int64_t worker : {-1L, 2L}) {
    const auto scheduled = coordinator().Schedule({.worker = worker}, kAddHere, 1);
    EXPECT_EQ(scheduled.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(scheduled.status().message(), HasSubstr("the strategy has workers 0 to 1"));
  }
  EXPECT_EQ(Count(), 0) << "none of them was scheduled";
}

}  // namespace
}  // namespace pstrain
