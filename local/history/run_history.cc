#include "local/history/run_history.h"

#include <cmath>
#include <cstdint>

namespace pstrain::local {
namespace {

constexpr int kPointsOfInterval = 2048;

/// How much better one value of a metric is than another: the larger, the better.
double Worth(std::string_view metric, double value) {
  if (metric == "log_loss") return -value;
  return metric == "calibration" ? -std::abs(value - 1) : value;
}

}  // namespace

HistoryPoint RunHistory::At(PointKind kind, double seconds) const {
  HistoryPoint point = now_;
  point.kind = kind;
  point.seconds = before_ + seconds;
  return point;
}

void RunHistory::Add(HistoryPoint point) {
  for (const Sink& sink : sinks_) sink(point);
  if (point.kind == PointKind::kEvaluation) evaluations_.push_back(std::move(point));
}

void RunHistory::Observe(const AgentReading& chief, double seconds) {
  const double expected = chief.Value("examples_expected");
  if (!chief.values.contains("examples_committed") || expected <= 0) return;
  const bool moved = now_.steps != std::llround(chief.Value("steps"));
  now_.steps = std::llround(chief.Value("steps"));
  now_.examples = std::llround(chief.Value("examples_committed"));
  now_.epoch = epochs_ * chief.Value("examples_committed") / expected;
  const auto loss = chief.values.find("loss");
  if (loss != chief.values.end()) now_.loss = loss->second;
  if (moved && now_.loss && (!progress_at_ || seconds - *progress_at_ >= interval_)) {
    progress_at_ = seconds;
    Add(At(PointKind::kProgress, seconds));
    if (++points_of_interval_ == kPointsOfInterval) {
      points_of_interval_ = 0;
      interval_ *= 2;
    }
  }
  std::map<std::string, double, std::less<>> metrics;
  for (const std::string_view name : kEvaluationMetrics) {
    const auto value = chief.values.find(name);
    if (value != chief.values.end()) metrics.emplace(name, value->second);
  }
  AddEvaluation(std::move(metrics), seconds);
}

void RunHistory::AddEvaluation(std::map<std::string, double, std::less<>> metrics, double seconds) {
  if (metrics.empty() || metrics == last_metrics_) return;
  last_metrics_ = metrics;
  HistoryPoint point = At(PointKind::kEvaluation, seconds);
  point.metrics = std::move(metrics);
  Add(std::move(point));
}

void RunHistory::Event(const std::string& text, double seconds) {
  HistoryPoint point = At(PointKind::kEvent, seconds);
  point.event = text;
  Add(std::move(point));
}

void RunHistory::Finish(const Json& result, double seconds) {
  const Json* committed = result.Find("examples_committed");
  const std::optional<std::int64_t> examples =
      committed == nullptr ? std::nullopt : committed->AsInt64();
  if (!examples) return;
  const Json* expected = result.Find("examples_expected");
  const double all = expected == nullptr ? 0 : expected->AsDouble().value_or(0);
  now_.examples = *examples;
  if (all > 0) now_.epoch = epochs_ * static_cast<double>(*examples) / all;
  std::map<std::string, double, std::less<>> metrics;
  for (const std::string_view name : kEvaluationMetrics) {
    const Json* value = result.Find(name);
    const std::optional<double> number = value == nullptr ? std::nullopt : value->AsDouble();
    if (number) metrics.emplace(name, *number);
  }
  AddEvaluation(std::move(metrics), seconds);
}

std::optional<double> RunHistory::Last(std::string_view metric) const {
  const auto value = last_metrics_.find(metric);
  return value == last_metrics_.end() ? std::nullopt : std::optional<double>(value->second);
}

std::optional<std::pair<double, HistoryPoint>> RunHistory::Best(std::string_view metric) const {
  std::optional<std::pair<double, HistoryPoint>> best;
  for (const HistoryPoint& point : evaluations_) {
    const auto value = point.metrics.find(metric);
    if (value == point.metrics.end()) continue;
    if (!best || Worth(metric, value->second) > Worth(metric, best->first)) {
      best.emplace(value->second, point);
    }
  }
  return best;
}

}  // namespace pstrain::local
