#include "library/remote/end_of_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

const Status kFails = UnavailableError("the run was given up");

ChiefEnd Ended(Result<int> returned) { return {.returned = std::move(returned), .served = true}; }

TEST(DecideExit, WithoutAChief_IsWhatMainReturns) {
  EXPECT_EQ(DecideExit(7, std::nullopt).code, 7);
  const ExitOfMain failed = DecideExit(kFails, std::nullopt);
  EXPECT_EQ(failed.code, kExitFailure);
  EXPECT_THAT(failed.says, HasSubstr("given up"));
}

TEST(DecideExit, WhenTheRunHasFinished_MainDecides) {
  EXPECT_EQ(DecideExit(0, Ended(kExitSuccess)).code, 0);
  EXPECT_EQ(DecideExit(3, Ended(kExitSuccess)).code, 3);
  EXPECT_EQ(DecideExit(kFails, Ended(kExitSuccess)).code, kExitFailure);
}

TEST(DecideExit, WhenTheChiefWasDrainedOrSuperseded_ItsWordCounts) {
  for (const int code : {kExitDrained, kExitDisrupted, kExitPermanent}) {
    EXPECT_EQ(DecideExit(kFails, Ended(code)).code, code);
    EXPECT_EQ(DecideExit(0, Ended(code)).code, code);
  }
}

TEST(DecideExit, WhenTheChiefHasFailed_SoDoesTheProcess) {
  const ExitOfMain by_chief = DecideExit(0, Ended(DataLossError("no readable checkpoint")));
  EXPECT_EQ(by_chief.code, kExitFailure);
  EXPECT_THAT(by_chief.says, HasSubstr("no readable checkpoint"));
  EXPECT_THAT(DecideExit(kFails, Ended(DataLossError("x"))).says, HasSubstr("given up"));
}

TEST(DecideExit, WhenMainHasGivenTheRunUp_ItHasFailed) {
  ChiefEnd end = Ended(AbortedError("given up"));
  end.given_up = true;
  const ExitOfMain forgotten = DecideExit(0, end);
  EXPECT_EQ(forgotten.code, kExitFailure);
  EXPECT_THAT(forgotten.says, HasSubstr("ClusterCoordinator::Finish"));
  EXPECT_EQ(DecideExit(9, end).code, 9);
  EXPECT_THAT(DecideExit(OutOfRangeError("of main"), end).says, HasSubstr("of main"));
}

// A call of `main` meets the next chief before its own chief does.
TEST(DecideExit, WhenMainHasGivenTheRunUpAsAnotherChiefHasIt_TheProcessIsSuperseded) {
  ChiefEnd end = Ended(kExitDisrupted);
  end.given_up = true;
  const ExitOfMain exit = DecideExit(AbortedError("chief term 2 was taken after 1"), end);
  EXPECT_EQ(exit.code, kExitDisrupted);
  EXPECT_THAT(exit.says, HasSubstr("chief term 2"));
}

TEST(DecideExit, WhenTheRunWasFinishedBefore_TheProcessHasSucceeded) {
  ChiefEnd end = Ended(kExitSuccess);
  end.served = false;
  EXPECT_EQ(DecideExit(FailedPreconditionError("the program has finished"), end).code,
            kExitSuccess);
}

}  // namespace
}  // namespace pstrain
