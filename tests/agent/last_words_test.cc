#include "agent/last_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pstrain {
namespace {

TEST(LastWords, OfATraceback_AreItsLinesAndTheErrorLast) {
  EXPECT_EQ(
      LastWords("Traceback (most recent call last):\n  File \"t.py\", line 3\n"
                "ValueError: no column age\n"),
      "Traceback (most recent call last):\n  File \"t.py\", line 3\nValueError: no column age");
  EXPECT_EQ(LastWords("no line end"), "no line end");
  EXPECT_EQ(LastWords(""), "");
}

TEST(LastWords, OfLinesWithoutContentAndOfAProgressBar_AreTheRest) {
  EXPECT_EQ(LastWords("\n \n\n"), "");
  EXPECT_EQ(LastWords("10 %\r 20 %\r\nout of paper  \n\n"), "10 %\n 20 %\nout of paper");
}

TEST(LastWords, OfMuch_AreAFewLines) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string words = LastWords(text);
  EXPECT_EQ(std::count(words.begin(), words.end(), '\n'), 9);
  EXPECT_THAT(words, testing::StartsWith("line 90\n"));
  EXPECT_THAT(words, testing::EndsWith("\nline 99"));
}

TEST(LastWords, OfLongLines_HaveTheirBeginnings) {
  const std::string words = LastWords("first\nbad value: " + std::string(5000, 'x') + "\n");
  EXPECT_LE(words.size(), kLongestLastWords);
  EXPECT_THAT(words, testing::StartsWith("first\nbad value: xxx"));
  std::string many;
  for (int i = 0; i < 9; ++i) many += std::string(300, static_cast<char>('a' + i)) + "\n";
  EXPECT_LE(LastWords(many).size(), kLongestLastWords);
  EXPECT_EQ(LastWords(many).front(), 'g');
}

TEST(LastWords, OfAnyBytes_ArePrintable) {
  EXPECT_EQ(LastWords("a\x01"
                      "b\xff\n"),
            "a b?");
}

}  // namespace
}  // namespace pstrain
