#include "runtime/cluster/chief_patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/manual_clock.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

class ChiefPatienceTest : public testing::Test {
 protected:
  /// The log of that time, in which the chief is asked each second and does not answer.
  std::string SilenceFor(seconds time, const std::string& error = "cut") {
    testing::internal::CaptureStderr();
    for (seconds passed{0}; passed < time; passed += seconds(1)) {
      clock_.Advance(seconds(1));
      EXPECT_TRUE(patience_.Check(UnavailableError(error)).ok());
    }
    return testing::internal::GetCapturedStderr();
  }
  std::string LogOfHeard() {
    testing::internal::CaptureStderr();
    patience_.Heard();
    return testing::internal::GetCapturedStderr();
  }
  double OnThePage() const { return PeerStats(*stats_).chief_silence->Value(); }

  JobSettings job_{.spec = {},
                   .checkpoint_directory = {},
                   .peer_timeout = seconds(100),
                   .fields = {.peer_timeout = "spec.training.peerTimeoutSeconds"}};
  const FailPoints fail_points_;
  const std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RoleContext context_{.job = job_,
                             .run_id = "r",
                             .chief_address = "chief:2000",
                             .stats = *stats_,
                             .fail_points = fail_points_};
  ManualClock clock_{seconds(1000)};
  ChiefPatience patience_{context_, "worker", clock_};
};

TEST_F(ChiefPatienceTest, WhenTheChiefIsAway_WarnsAfterTenSecondsAndThenEachMinute) {
  EXPECT_EQ(SilenceFor(seconds(9)), "") << "it may be being replaced";
  const std::string first = SilenceFor(seconds(60), "refused");
  EXPECT_THAT(first, AllOf(HasSubstr("WARN"), HasSubstr("chief=chief:2000 for_seconds=10 "),
                           HasSubstr("given_up_after_seconds=100"), HasSubstr("refused")));
  EXPECT_EQ(std::ranges::count(first, '\n'), 1);
  const std::string second = SilenceFor(seconds(10));
  EXPECT_THAT(second, HasSubstr("for_seconds=70 "));
  EXPECT_EQ(std::ranges::count(second, '\n'), 1);
}

TEST_F(ChiefPatienceTest, WhenTheChiefAnswersAgain_SaysSoOnceAndBeginsAnew) {
  SilenceFor(seconds(12));
  EXPECT_THAT(LogOfHeard(), AllOf(HasSubstr("INFO"), HasSubstr("the chief answers again"),
                                  HasSubstr("after_seconds=12")));
  EXPECT_EQ(LogOfHeard(), "");
  EXPECT_EQ(SilenceFor(seconds(9)), "");
  EXPECT_EQ(LogOfHeard(), "") << "nobody was told of that silence";
  EXPECT_THAT(SilenceFor(seconds(10)), HasSubstr("for_seconds=10 "));
}

TEST_F(ChiefPatienceTest, TheSilence_IsOnTheStatsPageUntilTheChiefAnswers) {
  EXPECT_EQ(OnThePage(), 0);
  SilenceFor(seconds(3));
  EXPECT_EQ(OnThePage(), 3);
  patience_.Heard();
  EXPECT_EQ(OnThePage(), 0);
}

TEST_F(ChiefPatienceTest, WhenTheTimeIsOver_TheLastErrorIsInTheMessage) {
  SilenceFor(seconds(60));
  patience_.Heard();
  SilenceFor(seconds(100));
  clock_.Advance(seconds(1));
  EXPECT_EQ(patience_.Check(UnavailableError("connection refused")),
            DeadlineExceededError("the chief at chief:2000 did not answer within "
                                  "spec.training.peerTimeoutSeconds (100 s); last error: "
                                  "UNAVAILABLE: connection refused"));
}

TEST_F(ChiefPatienceTest, WhenTheJobHasNoFieldForTheTime_NamesNone) {
  job_.fields = {};
  ChiefPatience patience(context_, "worker", clock_);
  clock_.Advance(seconds(101));
  EXPECT_EQ(patience.Check(UnavailableError("refused")).message(),
            "the chief at chief:2000 did not answer within 100 s; last error: UNAVAILABLE: "
            "refused");
}

}  // namespace
}  // namespace pstrain
