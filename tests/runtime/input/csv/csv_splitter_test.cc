#include "runtime/input/csv/csv_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace pstrain {
namespace {

using Records = std::vector<std::vector<std::string>>;

struct Split {
  Records records;
  std::vector<std::uint64_t> lines;
  CsvStep last = CsvStep::kEnd;
};

Split SplitAll(std::string_view text, const CsvFormat& format = {}) {
  Split split;
  CsvCursor cursor;
  CsvRecord record;
  while ((split.last = NextCsvRecord(format, text, true, cursor, record)) == CsvStep::kRecord) {
    split.records.emplace_back(record.fields.begin(), record.fields.end());
    split.lines.push_back(record.line);
  }
  return split;
}

TEST(CsvSplitter, WhenFieldsHaveBlanks_TrimsThem) {
  EXPECT_EQ(SplitAll("39, State-gov ,\t7\n").records, (Records{{"39", "State-gov", "7"}}));
  EXPECT_EQ(SplitAll("39, a \n", {',', false}).records, (Records{{"39", " a "}}));
}

TEST(CsvSplitter, WhenQuoted_KeepsDelimitersLinesAndDoubledQuotes) {
  const Split split = SplitAll("\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\nx,y,z\n");
  EXPECT_EQ(split.records, (Records{{"a,b", "say \"hi\"", "two\nlines"}, {"x", "y", "z"}}));
  EXPECT_EQ(split.lines, (std::vector<std::uint64_t>{1, 3}));
}

TEST(CsvSplitter, WhenLinesEndInCrLf_LeavesTheCrOut) {
  EXPECT_EQ(SplitAll("a,b\r\n\"c\",d\r\n").records, (Records{{"a", "b"}, {"c", "d"}}));
}

TEST(CsvSplitter, WhenNoFinalNewline_StillGivesTheRecord) {
  EXPECT_EQ(SplitAll("a,b\nc,").records, (Records{{"a", "b"}, {"c", ""}}));
  EXPECT_EQ(SplitAll("a,\"b\"").records, (Records{{"a", "b"}}));
}

TEST(CsvSplitter, WhenLinesAreEmpty_TheyAreNoRecords) {
  const Split split = SplitAll("\n\r\n  \na\n\nb\n\n");
  EXPECT_EQ(split.records, (Records{{"a"}, {"b"}}));
  EXPECT_EQ(split.lines, (std::vector<std::uint64_t>{4, 6}));
  EXPECT_TRUE(SplitAll("").records.empty());
}

TEST(CsvSplitter, WhenDelimiterIsTab_KeepsEmptyFields) {
  EXPECT_EQ(SplitAll("\t\t\na\tb \tc\n", {'\t', true}).records,
            (Records{{"", "", ""}, {"a", "b", "c"}}));
}

TEST(CsvSplitter, WhenQuoteStaysOpen_SaysSo) {
  EXPECT_EQ(SplitAll("a\n\"b,c\n").last, CsvStep::kOpenQuote);
}

TEST(CsvSplitter, WhenTextFollowsAQuote_NamesTheProblem) {
  CsvCursor cursor;
  CsvRecord record;
  ASSERT_EQ(NextCsvRecord({}, "\"a\"b,c\n", true, cursor, record), CsvStep::kRecord);
  EXPECT_EQ(record.problem, "text after a closing quote");
  EXPECT_EQ(record.fields.size(), 2U);
}

TEST(CsvSplitter, WhenQuoteIsInsideAField_IsText) {
  EXPECT_EQ(SplitAll("5\" disk,b\n").records, (Records{{"5\" disk", "b"}}));
}

// The same records come out wherever the text is cut, as long as more text follows the cut.
TEST(CsvSplitter, WhenTextComesInPieces_GivesTheSameRecords) {
  Rng rng(7);
  constexpr std::string_view kAlphabet = "a,\"\n\r \"b,\n";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t n = rng.Uniform(30); n > 0; --n) {
      text.push_back(kAlphabet[rng.Uniform(kAlphabet.size())]);
    }
    const Split whole = SplitAll(text);
    Split pieces;
    CsvCursor cursor;
    CsvRecord record;
    for (std::size_t end = 0; end <= text.size();) {
      const bool at_end = end == text.size();
      pieces.last =
          NextCsvRecord({}, std::string_view(text).substr(0, end), at_end, cursor, record);
      if (pieces.last == CsvStep::kRecord) {
        pieces.records.emplace_back(record.fields.begin(), record.fields.end());
        pieces.lines.push_back(record.line);
      } else {
        ++end;
      }
    }
    EXPECT_EQ(pieces.records, whole.records) << text;
    EXPECT_EQ(pieces.lines, whole.lines) << text;
    EXPECT_EQ(pieces.last, whole.last) << text;
  }
}

}  // namespace
}  // namespace pstrain
