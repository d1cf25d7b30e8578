#include "cli/init/column_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain {
namespace {

ColumnProfile Of(const std::vector<std::string>& texts) {
  ColumnProfile column("c");
  for (const std::string& text : texts) column.Add(text);
  return column;
}

TEST(ColumnProfile, MomentsAreThoseOfTheNumbers) {
  // By hand: mean 4, second moment 10.5, third 36.
  const ColumnProfile column = Of({"1", "2", "", "3", "10", "?"});
  EXPECT_EQ(column.numbers(), 4U);
  EXPECT_EQ(column.empty(), 1U);
  EXPECT_DOUBLE_EQ(column.mean(), 4);
  EXPECT_NEAR(column.Deviation(), 3.5355339, 1e-6);
  EXPECT_NEAR(column.Skewness(), 45.0 / 44.194174, 1e-6);
  EXPECT_EQ(column.min(), 1);
  EXPECT_EQ(column.max(), 10);
  EXPECT_FALSE(column.AllNumbers());
}

TEST(ColumnProfile, WhatMarksMissing_IsTakenOut) {
  ColumnProfile column = Of({"1", "?", "2", "?"});
  EXPECT_THAT(column.OddTexts(), testing::ElementsAre(testing::Pair("?", 2U)));
  column.TakeMissing("?");
  EXPECT_EQ(column.values(), 2U);
  EXPECT_EQ(column.empty(), 2U);
  EXPECT_TRUE(column.AllIntegers());
  EXPECT_TRUE(column.CountsRecords());
}

TEST(ColumnProfile, IntegersInAnotherWriting_AreNumbersAlone) {
  EXPECT_TRUE(Of({"1", "-2"}).AllIntegers());
  EXPECT_FALSE(Of({"1", "02"}).AllIntegers());
  EXPECT_FALSE(Of({"1", "2.0"}).AllIntegers());
  EXPECT_FALSE(Of({"1", "3"}).CountsRecords());
}

TEST(ColumnProfile, ByFrequency_OrdersTextsOfOneCountByTheirBytes) {
  EXPECT_THAT(Of({"b", "c", "a", "c"}).ByFrequency(), testing::ElementsAre("c", "a", "b"));
}

}  // namespace
}  // namespace pstrain
