#include "cli/cluster/logs/log_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace pstrain::cluster {
namespace {

using ::testing::ElementsAre;

TEST(LogLines, Parse_SplitsTheTimeStampOff) {
  const LogLine line = ParseLogLine("1970-01-01T00:00:01.5Z two  words");
  EXPECT_EQ(line.time, UnixNanos(std::chrono::milliseconds(1500)));
  EXPECT_EQ(line.stamp, "1970-01-01T00:00:01.5Z");
  EXPECT_EQ(line.text, "two  words");
  EXPECT_EQ(ParseLogLine("1970-01-01T00:00:01Z").text, "");
  EXPECT_EQ(ParseLogLine("no stamp here").text, "no stamp here");
  EXPECT_FALSE(ParseLogLine("no stamp here").time);
}

std::vector<std::string> LinesOf(const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  LineSink sink([&lines](const LogLine& line) {
    lines.push_back(line.text);
    return true;
  });
  for (const std::string& piece : pieces) EXPECT_TRUE(sink.Write(piece).ok());
  EXPECT_TRUE(sink.Finish().ok());
  return lines;
}

TEST(LogLines, Sink_CutsWhateverThePieces) {
  EXPECT_THAT(LinesOf({"a", "b\nc", "\n", "\nd\r\nrest"}), ElementsAre("ab", "c", "", "d", "rest"));
  EXPECT_THAT(LinesOf({}), ElementsAre());
}

TEST(LogLines, Sink_OfAnEndlessLine_StaysBounded) {
  const std::string piece(std::size_t{1} << 20, 'x');
  EXPECT_EQ(LinesOf({piece, piece, "end\n"}).size(), 3U);
}

TEST(LogLines, Sink_WhenNobodyReads_EndsTheStream) {
  LineSink sink([](const LogLine&) { return false; });
  EXPECT_EQ(sink.Write("a\nb\n").code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace pstrain::cluster
