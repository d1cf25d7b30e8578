#include "library/coordinator/mark_variables.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain {
namespace {

TEST(MarkVariables, WhatIsNotDeclared_IsListedOnce) {
  MarkVariables variables;
  EXPECT_EQ(variables.List(), "");
  variables.Brings({"a", "b", "c"});
  variables.Declared("b");
  variables.Declared("new");
  EXPECT_EQ(variables.List(), "a, c");
  EXPECT_EQ(variables.List(), "");
}

TEST(MarkVariables, WhenThereAreMany_TheListIsCut) {
  MarkVariables variables;
  std::vector<std::string> names;
  for (int i = 100; i < 300; ++i) names.push_back("variable" + std::to_string(i));
  variables.Brings(names);
  const std::string list = variables.List();
  EXPECT_LT(list.size(), 600U);
  EXPECT_TRUE(list.starts_with("variable100, variable101, ")) << list;
  EXPECT_TRUE(list.ends_with(" and 162 more")) << list;
}

TEST(MarkVariables, WhenTheFirstNameIsLong_ItIsListed) {
  MarkVariables variables;
  variables.Brings({std::string(1000, 'x'), "y"});
  EXPECT_EQ(variables.List(), std::string(1000, 'x') + " and 1 more");
}

}  // namespace
}  // namespace pstrain
