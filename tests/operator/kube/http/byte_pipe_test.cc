#include "operator/kube/http/byte_pipe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace pstrain::kube {
namespace {

std::chrono::steady_clock::time_point Soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(10);
}

TEST(BytePipe, Put_BelowCapacity_GoesOn) {
  BytePipe pipe(10);
  EXPECT_TRUE(pipe.Put("abc", [] {}));
  EXPECT_TRUE(pipe.Put("def", [] {}));
  EXPECT_EQ(*pipe.Take(Soon(), {}), "abcdef");
}

TEST(BytePipe, Put_AtCapacity_IsToldOnceWhenThereIsRoom) {
  BytePipe pipe(3);
  int rooms = 0;
  EXPECT_FALSE(pipe.Put("abcd", [&] { ++rooms; }));
  EXPECT_EQ(rooms, 0);
  EXPECT_EQ(*pipe.Take(Soon(), {}), "abcd");
  EXPECT_EQ(rooms, 1);
}

TEST(BytePipe, Take_AfterClose_GivesTheRestAndThenTheEnd) {
  BytePipe pipe(10);
  EXPECT_TRUE(pipe.Put("abc", [] {}));
  pipe.Close(UnavailableError("reset"));
  EXPECT_EQ(*pipe.Take(Soon(), {}), "abc");
  EXPECT_EQ(pipe.Take(Soon(), {}).status().code(), StatusCode::kUnavailable);
  BytePipe whole(10);
  whole.Close(OkStatus());
  EXPECT_EQ(*whole.Take(Soon(), {}), "");
}

TEST(BytePipe, Take_WhenNothingComes_EndsAtDeadlineOrStop) {
  BytePipe pipe(10);
  const auto passed = std::chrono::steady_clock::now();
  EXPECT_EQ(pipe.Take(passed, {}).status().code(), StatusCode::kDeadlineExceeded);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(pipe.Take(Soon(), stop.get_token()).status().code(), StatusCode::kCancelled);
}

TEST(BytePipe, Leave_FreesAProducerThatWaits) {
  BytePipe pipe(1);
  int rooms = 0;
  EXPECT_FALSE(pipe.Put("abc", [&] { ++rooms; }));
  pipe.Leave();
  EXPECT_EQ(rooms, 1);
  EXPECT_TRUE(pipe.Put("more", [&] { ++rooms; }));
  EXPECT_EQ(rooms, 1);
}

}  // namespace
}  // namespace pstrain::kube
