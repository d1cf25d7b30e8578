#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kType[] = "CheckpointsFailing";
constexpr char kDiskFull[] = "NoSpaceLeftOnDevice";
constexpr char kDiskBroken[] = "InputOutputError";

/// A job whose chief says what keeps checkpoints from being written.
class CheckpointsFailingTest : public ::testing::Test {
 protected:
  void SetUp() override { fixture_.StartJob(Train); }

  /// The chief says so now; a second passes, and the operator reconciles.
  void Hear(int failing_seconds, int error_number) {
    fixture_.PollChief(0, R"("checkpoint_failing_seconds": )" + std::to_string(failing_seconds) +
                              R"(, "checkpoint_errno": )" + std::to_string(error_number));
    ASSERT_TRUE(fixture_.ReconcileOnce().ok());
    fixture_.RunFor(seconds(1));
  }

  ReconcilerFixture fixture_;
};

TEST_F(CheckpointsFailingTest, WhenTheDiskIsFull_AConditionAndAnEventSayWhatToDo) {
  Hear(29, ENOSPC);
  EXPECT_EQ(fixture_.ConditionOf(kType), "") << "one failed checkpoint is no news";
  Hear(31, ENOSPC);
  EXPECT_EQ(fixture_.ConditionOf(kType), "True");
  EXPECT_THAT(fixture_.MessageOf(kType),
              AllOf(HasSubstr("NoSpaceLeftOnDevice: "), HasSubstr("for more than 30 s"),
                    HasSubstr("spec.training.checkpoint.directory")));
  EXPECT_THAT(fixture_.FinishEvents(), Contains(kDiskFull).Times(1));
}

TEST_F(CheckpointsFailingTest, WhileTheSameGoesOn_NothingIsWrittenAndNoEventMade) {
  Hear(31, ENOSPC);
  const int before = fixture_.CallsOf("PATCH");
  for (int failing = 32; failing < 40; ++failing) Hear(failing, ENOSPC);
  EXPECT_EQ(fixture_.CallsOf("PATCH"), before);
  EXPECT_THAT(fixture_.FinishEvents(), Contains(kDiskFull).Times(1));
}

TEST_F(CheckpointsFailingTest, WhenTheErrorIsAnother_ThatIsAnotherEvent) {
  Hear(31, ENOSPC);
  Hear(33, EIO);
  EXPECT_EQ(fixture_.ConditionOf(kType), "True");
  EXPECT_THAT(fixture_.MessageOf(kType), HasSubstr(kDiskBroken));
  EXPECT_THAT(fixture_.FinishEvents(),
              AllOf(Contains(kDiskFull).Times(1), Contains(kDiskBroken).Times(1)));
}

TEST_F(CheckpointsFailingTest, WhenACheckpointIsWritten_TheConditionGoesWithoutAnEvent) {
  Hear(31, ENOSPC);
  Hear(0, 0);
  EXPECT_EQ(fixture_.ConditionOf(kType), "False");
  EXPECT_THAT(fixture_.MessageOf(kType), HasSubstr("CheckpointsWritten"));
  EXPECT_THAT(fixture_.FinishEvents(), Not(Contains("CheckpointsWritten")));
}

TEST_F(CheckpointsFailingTest, WhenItComesBack_IsSaidAgain) {
  Hear(31, ENOSPC);
  Hear(0, 0);
  Hear(31, ENOSPC);
  EXPECT_EQ(fixture_.ConditionOf(kType), "True");
}

// A new operator has not heard the chief: that is no word that checkpoints are written.
TEST_F(CheckpointsFailingTest,
       WhenTheOperatorIsStartedAgain_TheConditionStaysUntilTheChiefIsHeard) {
  Hear(31, ENOSPC);
  fixture_.RestartOperator();
  fixture_.Settle();
  ASSERT_TRUE(fixture_.ReconcileOnce().ok());
  EXPECT_EQ(fixture_.ConditionOf(kType), "True");
  Hear(35, ENOSPC);
  EXPECT_EQ(fixture_.ConditionOf(kType), "True");
  Hear(0, 0);
  EXPECT_EQ(fixture_.ConditionOf(kType), "False");
}

}  // namespace
}  // namespace pstrain::job
