#include "runtime/chief/peers/holdings.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

constexpr WorkId kFirst{0, 1};
constexpr WorkId kSecond{0, 2};

TEST(Holdings, WhenNotNamed_IsReturnedAndMayStillBeReported) {
  Holdings holdings;
  holdings.Grant(kFirst);
  holdings.Grant(kSecond);
  const Holdings::Change change = holdings.Keep({kSecond});
  EXPECT_EQ(change.returned, std::vector<WorkId>{kFirst});
  EXPECT_TRUE(change.unknown.empty());
  EXPECT_TRUE(holdings.MayReport(kFirst));
  EXPECT_TRUE(holdings.Keep({kSecond}).returned.empty());
}

TEST(Holdings, WhenNamedAgain_IsHeldAgain) {
  Holdings holdings;
  holdings.Grant(kFirst);
  holdings.Keep({});
  EXPECT_TRUE(holdings.Keep({kFirst}).unknown.empty());
  EXPECT_EQ(holdings.Keep({}).returned, std::vector<WorkId>{kFirst});
}

TEST(Holdings, WhenNeverGranted_IsUnknown) {
  Holdings holdings;
  EXPECT_EQ(holdings.Keep({kFirst}).unknown, std::vector<WorkId>{kFirst});
  EXPECT_FALSE(holdings.MayReport(kFirst));
  EXPECT_EQ(holdings.Keep({kFirst}).unknown, std::vector<WorkId>{kFirst});
}

TEST(Holdings, WhatWasReported_MayComeAgainUntilTheReportsAfterTheNext) {
  Holdings holdings;
  holdings.Grant(kFirst);
  holdings.BeginReports();
  holdings.Reported(kFirst);
  holdings.BeginReports();
  EXPECT_TRUE(holdings.MayReport(kFirst));
  holdings.BeginReports();
  EXPECT_FALSE(holdings.MayReport(kFirst));
}

}  // namespace
}  // namespace pstrain
