#include "cli/init/manifest_text.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(YamlText, WhatMeansSomethingElseInYaml_IsQuoted) {
  EXPECT_EQ(YamlText("data/train-1.csv"), "data/train-1.csv");
  for (const char* text :
       {"true", "No", "NULL", "1", "1e5", "", " a", "a: b", "#a", "a b", "-", "*a", "\xc3\xa4"}) {
    EXPECT_EQ(YamlText(text), "\"" + std::string(text) + "\"");
  }
  EXPECT_EQ(YamlText("a\"b\n"), "\"a\\\"b\\n\"");
}

TEST(JobName, IsALabel) {
  EXPECT_EQ(JobName("train.csv.gz"), "train");
  EXPECT_EQ(JobName("Bank Full_2.csv"), "bank-full-2");
  EXPECT_EQ(JobName("2024.csv"), "job-2024");
  EXPECT_EQ(JobName("\xc3\xa4.csv"), "job");
  EXPECT_EQ(JobName(std::string(39, 'a') + "-b"), std::string(39, 'a'));
  EXPECT_EQ(JobName(".hidden"), "hidden");
}

}  // namespace
}  // namespace pstrain
