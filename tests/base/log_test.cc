#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain {
namespace {

// 2024-02-29T23:59:59.007Z, a leap day.
constexpr std::int64_t kMillis = 1'709'251'199'007;

TEST(Log, FormatLogLine_PutsEverythingOnOneLine) {
  EXPECT_EQ(FormatLogLine(kMillis, LogLevel::kInfo, "agent", "child started",
                          {{"pid", 42}, {"name", "a b"}, {"ratio", 0.5}, {"ok", true}}),
            "2024-02-29T23:59:59.007Z INFO agent child started pid=42 name=\"a b\" ratio=0.5 "
            "ok=true\n");
}

TEST(Log, FormatLogLine_WithHostileText_StaysOneLine) {
  const std::string line = FormatLogLine(kMillis, LogLevel::kError, "c", "two\nlines",
                                         {{"v", "x\n\"y\"\x1b[0m"}, {"empty", ""}});
  EXPECT_EQ(line,
            "2024-02-29T23:59:59.007Z ERROR c two\\nlines v=\"x\\n\\\"y\\\"\\x1b[0m\" "
            "empty=\"\"\n");
}

TEST(Log, LogLevels_ParseTheirNames) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    EXPECT_EQ(ParseLogLevel(LogLevelName(level)), level);
  }
  EXPECT_EQ(ParseLogLevel("loud"), std::nullopt);
}

TEST(Log, SetLogLevel_DropsWhatIsBelow) {
  SetLogLevel(LogLevel::kWarning);
  testing::internal::CaptureStderr();
  LogInfo("c", "dropped");
  LogWarning("c", "kept");
  const std::string output = testing::internal::GetCapturedStderr();
  SetLogLevel(LogLevel::kInfo);
  EXPECT_EQ(output.find("dropped"), std::string::npos);
  EXPECT_NE(output.find("WARNING c kept\n"), std::string::npos);
}

}  // namespace
}  // namespace pstrain
