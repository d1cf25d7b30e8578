#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pstrain {

/// A curve. Points are (x, y), x not falling.
struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
  /// Points are marked: there are few of them.
  bool dots = false;
};
/// A moment on the x axis.
struct ChartMark {
  double x = 0;
  std::string text;
};
struct Chart {
  std::string title;
  std::string x_name;
  std::vector<ChartLine> lines;
  std::vector<ChartMark> marks;
};
/// A bar with what is written at its end.
struct Bar {
  std::string name;
  double value = 0;
  std::string text;
};

/// Curves and bars as SVG inside HTML: without scripts, without anything from a network, with a
/// <title> for each line and mark that a pointer or a screen reader shows. Values that are not
/// finite are left out. Empty where there is nothing to show. Pure; any thread.
std::string SvgOf(const Chart& chart);
std::string SvgOf(const std::string& title, const std::vector<Bar>& bars);

/// A text inside HTML.
std::string HtmlText(std::string_view text);

}  // namespace pstrain
