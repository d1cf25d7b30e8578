#include "local/view/number_text.h"

#include <gtest/gtest.h>

#include "base/text/json.h"

namespace pstrain::local {
namespace {

TEST(NumberText, IsAsAPersonReadsIt) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(-1234567), "-1,234,567");
  EXPECT_EQ(CountText(9007199254740993), "9,007,199,254,740,993");
  EXPECT_EQ(MetricText(0.08364), "0.0836");
  EXPECT_EQ(MetricText(0.000032), "3.2e-05");
  EXPECT_EQ(MetricText(0), "0.0000");
  EXPECT_EQ(MetricText(12345.678), "12345.7");
  EXPECT_EQ(RateText(950.4), "950");
  EXPECT_EQ(RateText(11364.3), "11.4k");
  EXPECT_EQ(BytesText(512), "512 B");
  EXPECT_EQ(BytesText(3.5 * 1024 * 1024), "3.5 MiB");
  EXPECT_EQ(DurationText(4.4), "4s");
  EXPECT_EQ(DurationText(130), "2m10s");
  EXPECT_EQ(DurationText(3 * 3600 + 5 * 60), "3h05m");
}

TEST(Rounded, LeavesNoRemainsOfBinaryFractions) {
  EXPECT_EQ(WriteJson(Json::Double(Rounded(11364.300000000001, 1))), "11364.3");
  EXPECT_EQ(WriteJson(Json::Double(Rounded(0.012867638290292022, 9))), "0.012867638");
  EXPECT_EQ(Rounded(1e300, 9), 1e300);
}

TEST(ColumnsOf, CountsCharacters) { EXPECT_EQ(ColumnsOf("a▁█"), 3U); }

}  // namespace
}  // namespace pstrain::local
