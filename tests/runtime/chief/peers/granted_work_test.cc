#include "runtime/chief/peers/granted_work.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

constexpr WorkId kFirst{0, 1};
constexpr WorkId kSecond{0, 2};

TEST(GrantedWork, WhenNotNamed_IsReturnedAndMayStillBeReported) {
  GrantedWork granted_work;
  granted_work.Grant(kFirst);
  granted_work.Grant(kSecond);
  const GrantedWork::Change change = granted_work.Keep({kSecond});
  EXPECT_EQ(change.returned, std::vector<WorkId>{kFirst});
  EXPECT_TRUE(change.unknown.empty());
  EXPECT_TRUE(granted_work.MayReport(kFirst));
  EXPECT_TRUE(granted_work.Keep({kSecond}).returned.empty());
}

TEST(GrantedWork, WhenNamedAgain_IsInFlightAgain) {
  GrantedWork granted_work;
  granted_work.Grant(kFirst);
  granted_work.Keep({});
  EXPECT_TRUE(granted_work.Keep({kFirst}).unknown.empty());
  EXPECT_EQ(granted_work.Keep({}).returned, std::vector<WorkId>{kFirst});
}

TEST(GrantedWork, WhenNeverGranted_IsUnknown) {
  GrantedWork granted_work;
  EXPECT_EQ(granted_work.Keep({kFirst}).unknown, std::vector<WorkId>{kFirst});
  EXPECT_FALSE(granted_work.MayReport(kFirst));
  EXPECT_EQ(granted_work.Keep({kFirst}).unknown, std::vector<WorkId>{kFirst});
}

TEST(GrantedWork, WhatWasReported_MayComeAgainUntilTheReportsAfterTheNext) {
  GrantedWork granted_work;
  granted_work.Grant(kFirst);
  granted_work.BeginReports();
  granted_work.Reported(kFirst);
  granted_work.BeginReports();
  EXPECT_TRUE(granted_work.MayReport(kFirst));
  granted_work.BeginReports();
  EXPECT_FALSE(granted_work.MayReport(kFirst));
}

// The chief grants what a ps has lost again, also to the worker that has it in flight; the report
// of the first attempt and the grant of the second meet on the way.
TEST(GrantedWork, WhenGrantedAgainWhileInFlight_MayBeReportedTwice) {
  GrantedWork granted_work;
  granted_work.Grant(kFirst);
  granted_work.Keep({kFirst});
  granted_work.Grant(kFirst);
  granted_work.BeginReports();
  granted_work.Reported(kFirst);
  EXPECT_TRUE(granted_work.Keep({kFirst}).unknown.empty());
  for (int polls = 0; polls < 3; ++polls) {
    granted_work.BeginReports();
    EXPECT_TRUE(granted_work.Keep({kFirst}).unknown.empty()) << polls;
  }
  EXPECT_TRUE(granted_work.MayReport(kFirst));
  EXPECT_EQ(granted_work.Keep({}).returned, std::vector<WorkId>{kFirst});
}

}  // namespace
}  // namespace pstrain
