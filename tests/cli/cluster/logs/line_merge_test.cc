#include "cli/cluster/logs/line_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/manual_clock.h"

namespace pstrain::cluster {
namespace {

LogLine At(int second, const std::string& text) {
  return {.time = UnixNanos(std::chrono::seconds(second)), .text = text};
}

std::string AllOf(LineMerge& merge) {
  std::string all;
  while (const auto next = merge.TakeNext()) all += next->line.text + " ";
  return all;
}

TEST(LineMerge, Lines_ComeInTheOrderOfTheirTimes) {
  const ManualClock clock;
  LineMerge merge(3, LineMerge::kForEver, clock);
  merge.Put(0, At(1, "a1"));
  merge.Put(0, At(4, "a4"));
  merge.Put(1, At(2, "b2"));
  merge.Put(1, {.text = "b2-continued"});
  merge.Put(1, At(5, "b5"));
  merge.Put(2, At(3, "c3"));
  for (std::size_t i = 0; i < 3; ++i) merge.End(i);
  EXPECT_EQ(AllOf(merge), "a1 b2 b2-continued c3 a4 b5 ");
}

TEST(LineMerge, Line_WaitsForAStreamThatIsBehind) {
  const ManualClock clock;
  LineMerge merge(2, LineMerge::kForEver, clock);
  merge.Put(0, At(2, "late"));
  std::jthread other([&merge] {
    merge.Put(1, At(1, "early"));
    merge.End(1);
    merge.End(0);
  });
  EXPECT_EQ(AllOf(merge), "early late ");
}

TEST(LineMerge, Line_WaitsNoLongerThanTheHold) {
  ManualClock clock;
  LineMerge merge(2, std::chrono::seconds(1), clock);
  merge.Put(0, At(2, "a"));
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(merge.TakeNext()->line.text, "a") << "stream 1 has said nothing for a second";
  merge.Put(0, At(4, "b"));
  merge.Put(1, At(3, "c"));
  EXPECT_EQ(merge.TakeNext()->line.text, "c");
}

TEST(LineMerge, StreamThatIsAhead_IsHeldBack) {
  const ManualClock clock;
  LineMerge merge(2, LineMerge::kForEver, clock);
  constexpr int kLines = 5000;
  std::jthread ahead([&merge] {
    for (int i = 0; i < kLines; ++i) merge.Put(0, At(i, "x"));
    merge.End(0);
  });
  std::jthread behind([&merge] {
    for (int i = 0; i < kLines; ++i) merge.Put(1, At(i, "y"));
    merge.End(1);
  });
  int count = 0;
  UnixNanos last{};
  while (const auto next = merge.TakeNext()) {
    EXPECT_GE(*next->line.time, last);
    last = *next->line.time;
    ++count;
  }
  EXPECT_EQ(count, 2 * kLines);
}

TEST(LineMerge, Stop_LetsAWaitingStreamGo) {
  const ManualClock clock;
  LineMerge merge(2, LineMerge::kForEver, clock);
  bool refused = false;
  std::jthread ahead([&] {
    while (merge.Put(0, At(1, "x"))) continue;
    refused = true;
  });
  merge.Stop();
  ahead.join();
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace pstrain::cluster
