#include "runtime/cluster/permanent_failure.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pstrain {
namespace {

class PermanentFailureTest : public testing::Test {
 protected:
  const JobSettings job_;
  const FailPoints fail_points_;
  const std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  std::string stated_;
  const RoleContext context_{.job = job_,
                             .run_id = "r",
                             .stats = *stats_,
                             .fail_points = fail_points_,
                             .state_failure = [this](std::string_view reason, const Status& why) {
                               stated_ = std::string(reason) + ": " + why.message();
                             }};
};

TEST_F(PermanentFailureTest, EndOfInput_WhenNobodyCanUseIt_StatesWhyAndExits87) {
  for (const Status& status :
       {InvalidArgumentError("a"), NotFoundError("a"), PermissionDeniedError("a")}) {
    stated_.clear();
    const Result<int> end = EndOfInput(context_, status);
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(*end, kExitPermanent);
    EXPECT_EQ(stated_, "InvalidInput: a");
  }
}

// Each attempt would find it so, until somebody does something about it.
TEST_F(PermanentFailureTest, EndOfInput_WhenAFileHasChangedUnderTheRun_StatesWhyAndExits87) {
  const Result<int> end = EndOfInput(context_, DataLossError("a.csv has changed"));
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(*end, kExitPermanent);
  EXPECT_EQ(stated_, "InvalidInput: a.csv has changed");
}

TEST_F(PermanentFailureTest, EndOfInput_WhenAnotherAttemptMayNotMeetIt_IsTheError) {
  for (const Status& status :
       {UnavailableError("a"), ResourceExhaustedError("a"), DeadlineExceededError("a")}) {
    EXPECT_EQ(EndOfInput(context_, status).status(), status);
    EXPECT_EQ(stated_, "");
  }
}

TEST_F(PermanentFailureTest, EndForGood_WithoutAnotherReason_SaysThatTheReplicaFailedForGood) {
  EXPECT_EQ(EndForGood(context_, FailedPreconditionError("loss is nan")), kExitPermanent);
  EXPECT_EQ(stated_, "ReplicaFailedForGood: loss is nan");
}

}  // namespace
}  // namespace pstrain
