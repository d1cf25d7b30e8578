#include "cli/report/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace pstrain {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 240;
constexpr double kLeft = 70;
constexpr double kRight = 16;
constexpr double kTop = 12;
constexpr double kBottom = 34;
constexpr double kSteps = 5;
constexpr std::array kColors = {"#1f6fb2", "#c2571a", "#2e8b57", "#8e44ad"};
/// More points than pixels say nothing more.
constexpr std::size_t kMostPoints = 700;

template <typename... Values>
std::string Print(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void Take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  /// Never without extent.
  void Widen() {
    if (low < high) return;
    const double size = std::max(std::abs(low), 1.0) / 2;
    low -= size;
    high += size;
  }
};

/// A round step of which about `steps` make the range: 1, 2 or 5 and zeros.
double StepOf(const Range& range, double steps) {
  const double raw = (range.high - range.low) / steps;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= raw) return digit * power;
  }
  return 10 * power;
}

/// The multiples of `step` in the range. Rounding may leave the last one a little above its end.
std::vector<double> Ticks(const Range& range, double step) {
  std::vector<double> ticks;
  const double first = std::ceil(range.low / step);
  const auto count = static_cast<std::size_t>(
      std::max(0.0, std::floor(range.high / step + 1.0 / kMostPoints) - first + 1));
  ticks.reserve(count);
  // A 0 is added so that none is -0.
  for (std::size_t i = 0; i < count; ++i) {
    ticks.push_back((first + static_cast<double>(i)) * step + 0.0);
  }
  return ticks;
}

bool IsFinite(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

/// Draws one chart.
class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) {
    for (const ChartLine& line : chart.lines) {
      for (const auto& point : line.points) {
        if (!IsFinite(point)) continue;
        x_.Take(point.first);
        y_.Take(point.second);
      }
    }
    if (x_.empty()) return;
    for (const ChartMark& mark : chart.marks) x_.Take(mark.x);
    x_.Widen();
    y_.Widen();
  }

  std::string Svg() const {
    if (x_.empty()) return {};
    std::string svg = "<figure><figcaption>" + HtmlText(chart_.title) + "</figcaption>\n";
    svg += Print("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", kWidth, kHeight) +
           HtmlText(chart_.title) + "\">\n" + Axes() + Marks();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) svg += Curve(i);
    return svg + "</svg>\n" + Legend() + "</figure>\n";
  }

 private:
  double X(double x) const {
    return kLeft + (x - x_.low) / (x_.high - x_.low) * (kWidth - kLeft - kRight);
  }
  double Y(double y) const {
    return kHeight - kBottom - (y - y_.low) / (y_.high - y_.low) * (kHeight - kTop - kBottom);
  }

  std::string Axes() const {
    std::string svg;
    const double y_step = StepOf(y_, kSteps);
    for (const double y : Ticks(y_, y_step)) {
      svg += Print("<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", kLeft, Y(y), kWidth - kRight);
      svg += Print("<text class=\"y\" x=\"%.1f\" y=\"%.1f\">%.6g</text>\n", kLeft - 6, Y(y) + 4, y);
    }
    const double x_step = StepOf(x_, 2 * kSteps);
    for (const double x : Ticks(x_, x_step)) {
      svg += Print("<text class=\"x\" x=\"%.1f\" y=\"%.1f\">%.6g</text>\n", X(x),
                   kHeight - kBottom + 16, x);
    }
    svg += Print("<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", kLeft, kTop,
                 kHeight - kBottom, kWidth - kRight);
    return svg +
           Print("<text class=\"x\" x=\"%.1f\" y=\"%.1f\">", (kLeft + kWidth) / 2, kHeight - 4) +
           HtmlText(chart_.x_name) + "</text>\n";
  }

  std::string Marks() const {
    std::string svg;
    for (const ChartMark& mark : chart_.marks) {
      svg +=
          Print("<path class=\"mark\" d=\"M%.1f %.1fV%.1f\">", X(mark.x), kTop, kHeight - kBottom) +
          "<title>" + HtmlText(mark.text) + "</title></path>\n";
    }
    return svg;
  }

  std::string Curve(std::size_t index) const {
    const ChartLine& line = chart_.lines[index];
    const std::size_t stride = line.points.size() / kMostPoints + 1;
    std::string path;
    std::string dots;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      if ((i % stride != 0 && i + 1 != line.points.size()) || !IsFinite(line.points[i])) continue;
      const double x = X(line.points[i].first);
      const double y = Y(line.points[i].second);
      path += Print("%s%.1f %.1f", path.empty() ? "M" : "L", x, y);
      if (line.dots) dots += Print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", x, y);
    }
    if (path.empty()) return {};
    const char* const color = kColors[index % kColors.size()];
    return Print("<g stroke=\"%s\" fill=\"%s\">", color, color) + "<path class=\"line\" d=\"" +
           path + "\"><title>" + HtmlText(line.name) + "</title></path>" + dots + "</g>\n";
  }

  std::string Legend() const {
    std::string html = "<p class=\"legend\">";
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      if (chart_.lines[i].points.empty()) continue;
      html += "<span style=\"color:" + std::string(kColors[i % kColors.size()]) +
              "\">&#9632;</span> " + HtmlText(chart_.lines[i].name) + " ";
    }
    if (!chart_.marks.empty()) html += "<span class=\"kill\">&#9475;</span> end of a replica";
    return html + "</p>\n";
  }

  const Chart& chart_;
  Range x_;
  Range y_;
};

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string SvgOf(const Chart& chart) { return Drawing(chart).Svg(); }

std::string SvgOf(const std::string& title, const std::vector<Bar>& bars) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  if (bars.empty() || most <= 0) return {};
  constexpr double kRow = 22;
  constexpr double kNames = 90;
  constexpr double kTexts = 200;
  const double height = kRow * static_cast<double>(bars.size()) + 4;
  std::string svg =
      "<figure><figcaption>" + HtmlText(title) + "</figcaption>\n" +
      Print("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", kWidth, height) +
      HtmlText(title) + "\">\n";
  double y = 2;
  for (const Bar& bar : bars) {
    const double width = bar.value / most * (kWidth - kNames - kTexts);
    svg += Print("<text class=\"y\" x=\"%.1f\" y=\"%.1f\">", kNames - 8, y + 15) +
           HtmlText(bar.name) + "</text>" +
           Print("<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\"/>",
                 kColors[0], kNames, y + 2, width) +
           Print("<text x=\"%.1f\" y=\"%.1f\">", kNames + width + 8, y + 15) + HtmlText(bar.text) +
           "</text>\n";
    y += kRow;
  }
  return svg + "</svg></figure>\n";
}

}  // namespace pstrain
