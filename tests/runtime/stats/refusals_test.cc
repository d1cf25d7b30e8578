#include "runtime/stats/refusals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/manual_clock.h"
#include "runtime/stats/names.h"
#include "runtime/stats/token_errors.h"

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

// Whoever floods the port from new connections does not keep the refusal of another from the log.
TEST_F(RefusalsTest, CountsByReasonAndLogsOneLineIn10SecondsForEachPeerAndReason) {
  testing::internal::CaptureStderr();
  for (const char* from : {"ipv4:10.0.0.1:5", "ipv4:10.0.0.1:6", "ipv4:10.0.0.1:7"}) {
    refusals_.CountIfRefused(from, OutOfRangeError("worker 90"));
  }
  refusals_.CountIfRefused("ipv4:10.0.0.1:5", InvalidArgumentError("../.."));
  refusals_.CountIfRefused("ipv4:10.0.0.2:5", OutOfRangeError("worker 91"));
  clock_.Advance(std::chrono::seconds(10));
  refusals_.CountIfRefused("ipv4:10.0.0.1:8", OutOfRangeError("worker 90"));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(Counted(RefusalReason::kOutOfRange), 5u);
  EXPECT_EQ(Counted(RefusalReason::kMalformed), 1u);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4) << log;
  EXPECT_NE(log.find("reason=out_of_range from=ipv4:10.0.0.1:5"), std::string::npos) << log;
  EXPECT_NE(log.find("from=ipv4:10.0.0.2:5"), std::string::npos) << log;
  EXPECT_NE(log.find("more_since_last=2"), std::string::npos) << log;
}

TEST_F(RefusalsTest, WhenPeersAreManyMore_TheLogStaysBounded) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) {
    refusals_.CountIfRefused("ipv6:[fd00::" + std::to_string(i) + "]:5", OutOfRangeError("x"));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(Counted(RefusalReason::kOutOfRange), 1000u);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 129) << log;
  // Later there is room for others.
  clock_.Advance(std::chrono::seconds(10));
  testing::internal::CaptureStderr();
  refusals_.CountIfRefused("ipv4:10.0.0.1:5", OutOfRangeError("y"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("from=ipv4:10.0.0.1:5"), std::string::npos);
}

TEST_F(RefusalsTest, WhatShouldBeTriedAgain_IsNoRefusal) {
  for (const Status& status : {OkStatus(), UnavailableError("x"), InternalError("x")}) {
    refusals_.CountIfRefused("", status);
  }
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    EXPECT_EQ(Counted(static_cast<RefusalReason>(i)), 0u);
  }
}

// Of all errors after which the peer should come again, the one that a flood of forged tokens
// makes.
TEST_F(RefusalsTest, ATokenOfAnUnknownKey_IsCountedAndLogged) {
  testing::internal::CaptureStderr();
  const Status error = PassingTokenError(kUnknownKey, "it may be published soon");
  refusals_.CountIfRefused("ipv4:10.0.0.1:5", error);
  refusals_.CountIfRefused("ipv4:10.0.0.1:6", error.WithContext("PollWorker"));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(Counted(RefusalReason::kUnknownKey), 2u);
  EXPECT_NE(log.find("reason=unknown_key from=ipv4:10.0.0.1:5"), std::string::npos) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

// Replicas come again with the next token, and somebody may try a stolen one: the count tells.
TEST_F(RefusalsTest, ATokenOfAnotherTime_IsCountedByItself) {
  const Status error = PassingTokenError(kWrongTime, "it expired 61 s ago");
  refusals_.CountIfRefused("ipv4:10.0.0.1:5", error);
  refusals_.CountIfRefused("ipv4:10.0.0.1:6", error.WithContext("PollWorker"));
  EXPECT_EQ(Counted(RefusalReason::kWrongTime), 2u);
  EXPECT_EQ(stats::kRefused[static_cast<std::size_t>(RefusalReason::kWrongTime)].labels,
            R"(reason="wrong_time")");
  EXPECT_EQ(Counted(RefusalReason::kUnauthenticated), 0u);
}

}  // namespace
}  // namespace pstrain
