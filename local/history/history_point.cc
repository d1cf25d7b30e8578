#include "local/history/history_point.h"

#include <utility>

#include "local/view/number_text.h"

namespace pstrain::local {
namespace {

constexpr std::array kKinds = {PointKind::kProgress, PointKind::kEvaluation, PointKind::kEvent};
/// Digits behind the point: of seconds, of parts of an epoch, of losses and metrics.
constexpr int kSecondsDigits = 3;
constexpr int kEpochDigits = 4;
constexpr int kMetricDigits = 9;

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

double NumberOf(const Json& line, std::string_view key) {
  const Json* value = line.Find(key);
  return value == nullptr ? 0 : value->AsDouble().value_or(0);
}

Json Metric(double value) { return Json::Double(Rounded(value, kMetricDigits)); }

}  // namespace

std::string_view NameOf(PointKind kind) {
  switch (kind) {
    case PointKind::kProgress:
      return "progress";
    case PointKind::kEvaluation:
      return "evaluation";
    case PointKind::kEvent:
      break;
  }
  return "event";
}

std::string ToJsonLine(const HistoryPoint& point) {
  Json line = Json::Object();
  line.Set("kind", Json::String(std::string(NameOf(point.kind))));
  line.Set("seconds", Json::Double(Rounded(point.seconds, kSecondsDigits)));
  line.Set("epoch", Json::Double(Rounded(point.epoch, kEpochDigits)));
  line.Set("steps", Json::Int(point.steps));
  line.Set("examples", Json::Int(point.examples));
  if (point.loss) line.Set("loss", Metric(*point.loss));
  for (const std::string_view name : kEvaluationMetrics) {
    const auto metric = point.metrics.find(name);
    if (metric != point.metrics.end()) line.Set(name, Metric(metric->second));
  }
  if (!point.event.empty()) line.Set("event", Json::String(point.event));
  return WriteJson(line);
}

Result<HistoryPoint> FromJsonLine(std::string_view text) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json line, ParseJson(text));
  const Json* kind = line.Find("kind");
  HistoryPoint point;
  bool known = false;
  for (const PointKind one : kKinds) {
    if (kind == nullptr || kind->AsString() == nullptr || *kind->AsString() != NameOf(one))
      continue;
    point.kind = one;
    known = true;
  }
  if (!known) return InvalidArgumentError("a line of a run's history has no kind");
  point.seconds = NumberOf(line, "seconds");
  point.epoch = NumberOf(line, "epoch");
  const auto count = [&line](std::string_view key) {
    const Json* value = line.Find(key);
    return value == nullptr ? 0 : value->AsInt64().value_or(0);
  };
  point.steps = count("steps");
  point.examples = count("examples");
  const Json* loss = line.Find("loss");
  if (loss != nullptr) point.loss = loss->AsDouble();
  for (const std::string_view name : kEvaluationMetrics) {
    const Json* metric = line.Find(name);
    const std::optional<double> value = metric == nullptr ? std::nullopt : metric->AsDouble();
    if (value) point.metrics.emplace(name, *value);
  }
  const Json* event = line.Find("event");
  if (event != nullptr && event->AsString() != nullptr) point.event = *event->AsString();
  return point;
}

std::string HistoryCsvHeader() {
  std::string header = "kind,seconds,epoch,steps,examples,loss";
  for (const std::string_view name : kEvaluationMetrics) header.append(",").append(name);
  return header + ",event";
}

std::string ToCsvLine(const HistoryPoint& point) {
  const auto number = [](double value, int digits) {
    return WriteJson(Json::Double(Rounded(value, digits)));
  };
  std::string line(NameOf(point.kind));
  line += "," + number(point.seconds, kSecondsDigits) + "," + number(point.epoch, kEpochDigits) +
          "," + std::to_string(point.steps) + "," + std::to_string(point.examples) + ",";
  if (point.loss) line += number(*point.loss, kMetricDigits);
  for (const std::string_view name : kEvaluationMetrics) {
    line += ",";
    const auto metric = point.metrics.find(name);
    if (metric != point.metrics.end()) line += number(metric->second, kMetricDigits);
  }
  return line + "," + (point.event.empty() ? std::string() : Quoted(point.event));
}

}  // namespace pstrain::local
