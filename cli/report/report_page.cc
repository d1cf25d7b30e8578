#include "cli/report/report_page.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "cli/report/svg_chart.h"
#include "local/view/number_text.h"

namespace pstrain {
namespace {

using local::BytesText;
using local::CountText;
using local::HistoryPoint;
using local::MetricText;
using local::PointKind;

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em;"
    "color:#222;background:#fff}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}figure{margin:1.5em 0}"
    "figcaption{font-weight:600}svg{width:100%;height:auto}"
    "svg text{font-size:12px;fill:#555}.y{text-anchor:end}.x{text-anchor:middle}"
    ".grid{stroke:#ddd;fill:none}.axis{stroke:#888;fill:none}"
    ".line{fill:none;stroke-width:1.8}.mark{stroke:#d22;stroke-dasharray:4 3;fill:none}"
    ".kill{color:#d22}.legend{margin:0;font-size:.9em}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "td,th{padding:.15em .8em .15em 0;text-align:right}td:first-child,th:first-child,td.text{"
    "text-align:left}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}svg text{fill:#aaa}"
    ".grid{stroke:#333}}";

std::optional<double> NumberOf(const Json& object, std::string_view key) {
  const Json* value = object.Find(key);
  return value == nullptr ? std::nullopt : value->AsDouble();
}

std::string TextOf(const Json& object, std::string_view key) {
  const Json* value = object.Find(key);
  return value == nullptr || value->AsString() == nullptr ? std::string() : *value->AsString();
}

std::string Count(double value) { return CountText(std::llround(value)); }

std::string Row(const std::vector<std::string>& cells, const char* kind = "td") {
  std::string row = "<tr>";
  for (const std::string& cell : cells) {
    row.append("<").append(kind).append(">") += HtmlText(cell);
    row.append("</").append(kind).append(">");
  }
  return row + "</tr>\n";
}

std::vector<ChartMark> Ends(const std::vector<HistoryPoint>& points) {
  std::vector<ChartMark> marks;
  for (const HistoryPoint& point : points) {
    if (point.kind == PointKind::kEvent) marks.push_back({point.seconds, point.event});
  }
  return marks;
}

ChartLine LossLine(const std::vector<HistoryPoint>& points) {
  ChartLine line{"loss (training)", {}, false};
  for (const HistoryPoint& point : points) {
    if (point.kind == PointKind::kProgress && point.loss) {
      line.points.emplace_back(point.seconds, *point.loss);
    }
  }
  return line;
}

ChartLine MetricLine(const std::vector<HistoryPoint>& points, const std::string& name) {
  ChartLine line{name, {}, true};
  for (const HistoryPoint& point : points) {
    const auto metric = point.metrics.find(name);
    if (metric != point.metrics.end()) line.points.emplace_back(point.seconds, metric->second);
  }
  return line;
}

std::string Curves(const std::vector<HistoryPoint>& points) {
  const std::vector<ChartMark> marks = Ends(points);
  const std::string seconds = "seconds";
  std::string html =
      SvgOf(Chart{"Loss", seconds, {LossLine(points), MetricLine(points, "log_loss")}, marks});
  html += SvgOf(Chart{"Evaluation",
                      seconds,
                      {MetricLine(points, "auc"), MetricLine(points, "accuracy"),
                       MetricLine(points, "calibration")},
                      marks});
  ChartLine examples{"examples committed", {}, false};
  for (const HistoryPoint& point : points) {
    examples.points.emplace_back(point.seconds, static_cast<double>(point.examples));
  }
  return html + SvgOf(Chart{"Progress", seconds, {examples}, marks});
}

std::string Load(const Json& report) {
  std::string html;
  std::vector<Bar> bars;
  const Json* ps = report.Find("ps");
  for (const Json& one : ps == nullptr ? std::vector<Json>() : ps->items()) {
    const double received = NumberOf(one, "bytes_received").value_or(0);
    const double sent = NumberOf(one, "bytes_sent").value_or(0);
    bars.push_back({"ps " + std::to_string(bars.size()), received + sent,
                    BytesText(received + sent) + ", " + Count(NumberOf(one, "shards").value_or(0)) +
                        " shards"});
  }
  html += SvgOf("Load of each ps: bytes received and sent", bars);
  bars.clear();
  const Json* workers = report.Find("workers");
  for (const Json& one : workers == nullptr ? std::vector<Json>() : workers->items()) {
    const double examples = NumberOf(one, "examples").value_or(0);
    bars.push_back(
        {"worker " + std::to_string(bars.size()), examples, Count(examples) + " examples"});
  }
  return html + SvgOf("Examples of each worker", bars);
}

std::string Numbers(const Json& report) {
  std::string rows;
  for (const auto& [key, value] : report.members()) {
    if (value.is_integer()) {
      rows += Row({key, CountText(value.AsInt64().value_or(0))});
    } else if (value.kind() == Json::Kind::kDouble) {
      rows += Row({key, MetricText(*value.AsDouble())});
    }
  }
  return rows.empty() ? rows : "<h2>Numbers</h2>\n<table>\n" + rows + "</table>\n";
}

std::string Evaluations(const std::vector<HistoryPoint>& points) {
  std::vector<std::string> head = {"seconds", "epoch", "examples"};
  for (const std::string_view name : local::kEvaluationMetrics) head.emplace_back(name);
  std::string rows;
  for (const HistoryPoint& point : points) {
    if (point.kind != PointKind::kEvaluation) continue;
    std::vector<std::string> cells = {MetricText(point.seconds), MetricText(point.epoch),
                                      CountText(point.examples)};
    for (const std::string_view name : local::kEvaluationMetrics) {
      const auto metric = point.metrics.find(name);
      cells.push_back(metric == point.metrics.end() ? "" : MetricText(metric->second));
    }
    rows += Row(cells);
  }
  return rows.empty() ? rows
                      : "<h2>Evaluations</h2>\n<table>\n" + Row(head, "th") + rows + "</table>\n";
}

std::string Events(const std::vector<HistoryPoint>& points) {
  std::string rows;
  for (const HistoryPoint& point : points) {
    if (point.kind != PointKind::kEvent) continue;
    rows += "<tr><td>" + MetricText(point.seconds) + " s</td><td class=\"text\">" +
            HtmlText(point.event) + "</td></tr>\n";
  }
  return rows.empty() ? rows : "<h2>Ends of replicas</h2>\n<table>\n" + rows + "</table>\n";
}

}  // namespace

std::string ReportPage(const ReportFacts& facts) {
  const std::string title = HtmlText(facts.job) + ", run " + HtmlText(facts.run_id);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
      title + "</title>\n<style>" + kStyle + "</style></head><body>\n<h1>" + title + "</h1>\n<p>";
  if (facts.report.is_object()) {
    html += HtmlText(TextOf(facts.report, "state")) + " after " +
            local::DurationText(NumberOf(facts.report, "seconds").value_or(0)) + ".";
    const std::string reason = TextOf(facts.report, "reason");
    if (!reason.empty()) html += " " + HtmlText(reason);
  } else {
    html += "This run is going on, or was ended from outside.";
  }
  return html + "</p>\n" + Curves(facts.points) + Load(facts.report) + Numbers(facts.report) +
         Evaluations(facts.points) + Events(facts.points) + "</body></html>\n";
}

}  // namespace pstrain
