#include "cli/report/svg_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pstrain {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SvgOf, ACurve_GoesFromCornerToCorner) {
  const std::string svg = SvgOf(Chart{"Loss", "seconds", {{"loss", {{0, 1}, {10, 0}}}}, {}});
  EXPECT_THAT(svg, HasSubstr("d=\"M70.0 12.0L704.0 206.0\""));
  EXPECT_THAT(svg, HasSubstr("<title>loss</title>"));
  EXPECT_THAT(svg, HasSubstr(">0.2</text>"));
  EXPECT_THAT(svg, HasSubstr(">seconds</text>"));
}

TEST(SvgOf, OfWhatIsNotFiniteOrOneValue_HasNoFigureOutOfReason) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(SvgOf(Chart{"t", "x", {{"a", {{0, none}}}}, {{1, "m"}}}), "");
  EXPECT_EQ(SvgOf(Chart{"t", "x", {}, {}}), "");
  for (const double value : {0.0, 5.0, -1e-30, 1e300}) {
    const std::string svg =
        SvgOf(Chart{"t", "x", {{"a", {{1, value}, {2, none}}, true}}, {{1, "m"}}});
    EXPECT_THAT(svg, HasSubstr("<circle"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_LT(svg.size(), 8000U);
  }
}

TEST(SvgOf, OfManyPoints_DrawsFew) {
  ChartLine line{"a", {}, false};
  for (int i = 0; i < 100'000; ++i) line.points.emplace_back(i, i % 7);
  EXPECT_LT(SvgOf(Chart{"t", "x", {line}, {}}).size(), 20'000U);
}

TEST(SvgOf, Bars_AreAsLongAsTheirValues) {
  const std::string svg = SvgOf("Load", {{"ps 0", 200, "200 B"}, {"ps 1", 100, "<100 B>"}});
  EXPECT_THAT(svg, HasSubstr("width=\"430.0\""));
  EXPECT_THAT(svg, HasSubstr("width=\"215.0\""));
  EXPECT_THAT(svg, HasSubstr("&lt;100 B&gt;"));
  EXPECT_EQ(SvgOf("Load", {{"ps 0", 0, "0 B"}}), "");
}

}  // namespace
}  // namespace pstrain
