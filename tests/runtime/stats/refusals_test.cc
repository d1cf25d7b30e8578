#include "runtime/stats/refusals.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/manual_clock.h"
#include "runtime/stats/names.h"

namespace pstrain {
namespace {

class RefusalsTest : public testing::Test {
 protected:
  std::uint64_t Counted(RefusalReason reason) {
    return writer_->AddCounter(stats::kRefused[static_cast<std::size_t>(reason)])->Value();
  }
  ManualClock clock_{std::chrono::seconds(1)};
  std::unique_ptr<StatsWriter> writer_ = StatsWriter::InMemory();
  Refusals refusals_{*writer_, &clock_};
};

TEST_F(RefusalsTest, CountsByReasonAndLogsOneLineIn10Seconds) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    refusals_.CountIfRefused("ipv4:10.0.0.1:5", OutOfRangeError("worker 90"));
  }
  refusals_.CountIfRefused("ipv4:10.0.0.1:5", InvalidArgumentError("../.."));
  clock_.Advance(std::chrono::seconds(10));
  refusals_.CountIfRefused("ipv4:10.0.0.2:5", OutOfRangeError("worker 91"));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(Counted(RefusalReason::kOutOfRange), 4u);
  EXPECT_EQ(Counted(RefusalReason::kMalformed), 1u);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3) << log;
  EXPECT_NE(log.find("reason=out_of_range from=ipv4:10.0.0.1:5"), std::string::npos) << log;
  EXPECT_NE(log.find("from=ipv4:10.0.0.2:5"), std::string::npos) << log;
  EXPECT_NE(log.find("more_since_last=2"), std::string::npos) << log;
}

TEST_F(RefusalsTest, WhatShouldBeTriedAgain_IsNoRefusal) {
  for (const Status& status : {OkStatus(), UnavailableError("x"), InternalError("x")}) {
    refusals_.CountIfRefused("", status);
  }
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    EXPECT_EQ(Counted(static_cast<RefusalReason>(i)), 0u);
  }
}

}  // namespace
}  // namespace pstrain
