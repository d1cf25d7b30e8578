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

}  // namespace
}  // namespace pstrain
