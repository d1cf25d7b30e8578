// What Schedule does when there is no room for another call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <string>

#include "tests/library/coordinator/queue_fixture.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

/// Ten calls of this size fill the queue's room, with what each takes beside it.
constexpr std::size_t kTenth = 68;

class FullQueueTest : public QueueFixture {
 protected:
  explicit FullQueueTest(std::chrono::nanoseconds patience = std::chrono::minutes(10))
      : QueueFixture({.payload = 100, .kept = 1000, .patience = patience}) {
    Serve();
    for (int i = 0; i < 10; ++i) Schedule(std::string(kTenth, static_cast<char>('a' + i)));
  }
  /// Another thread does this as soon as Schedule waits; returns what Schedule does. Each call of a
  /// queue that takes an id is by one thread, which is this one.
  Status ScheduleWhile(const std::function<void()>& happens) {
    auto other = std::async(std::launch::async, happens);
    return queue_.Schedule("one more").status();
  }
};

TEST_F(FullQueueTest, WhenCallsAreForgotten_ScheduleGoesOn) {
  EXPECT_EQ(ScheduleWhile([this] {
              Commit(0, Report());
              EXPECT_EQ(work_.source->work_ids(), 10U) << "it is kept, though it has ended";
              chief_->ChangeWork([this](const CommitProtocol&) { work_.source->Forget(1); });
            }),
            OkStatus());
  EXPECT_EQ(work_.source->work_ids(), 11U);
}

TEST_F(FullQueueTest, WhenAFunctionFailsMeanwhile_ScheduleSaysItsError) {
  EXPECT_EQ(ScheduleWhile([this] {
              Report failed;
              failed.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kAborted));
              failed.mutable_error()->set_message("no");
              Commit(0, failed);
            }),
            AbortedError("no"));
  EXPECT_EQ(work_.source->work_ids(), 10U);
}

TEST_F(FullQueueTest, WhenTheRunEndsMeanwhile_ScheduleSaysWhy) {
  EXPECT_EQ(ScheduleWhile([this] { queue_.Ended(CancelledError("the end")); }),
            CancelledError("the end"));
}

class ImpatientQueueTest : public FullQueueTest {
 protected:
  ImpatientQueueTest() : FullQueueTest(std::chrono::milliseconds(50)) {}
};

TEST_F(ImpatientQueueTest, WhenNothingMakesRoom_ScheduleFails) {
  const Status status = queue_.Schedule("one more").status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("there is no room for another call: 10 have not ended"));
  EXPECT_EQ(work_.source->work_ids(), 10U);
}

}  // namespace
}  // namespace pstrain
