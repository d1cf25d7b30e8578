#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/text/json.h"

namespace pstrain::local {

enum class PointKind : std::uint8_t { kProgress, kEvaluation, kEvent };

/// What was seen of a run at one moment. A value; any thread.
struct HistoryPoint {
  PointKind kind = PointKind::kProgress;
  /// Since the run was begun on this machine, without the time between its parts.
  double seconds = 0;
  /// Passes over the input so far, with their fraction; 0 where the job has none.
  double epoch = 0;
  std::int64_t steps = 0;
  std::int64_t examples = 0;
  /// Of the training.
  std::optional<double> loss;
  /// Of an evaluation, by the names of a run's result.
  std::map<std::string, double, std::less<>> metrics;
  /// What happened to a replica.
  std::string event;
};

/// The metrics that an evaluation has, in the order in which they are shown.
inline constexpr std::array<std::string_view, 4> kEvaluationMetrics = {"auc", "accuracy",
                                                                       "log_loss", "calibration"};
/// "progress", "evaluation" or "event".
std::string_view NameOf(PointKind kind);

/// One line of JSON without its end, and the reverse. INVALID_ARGUMENT: it is no such line. Pure;
/// any thread.
std::string ToJsonLine(const HistoryPoint& point);
Result<HistoryPoint> FromJsonLine(std::string_view line);

/// The header of a CSV file of points, and a line of it, without line ends. Pure; any thread.
std::string HistoryCsvHeader();
std::string ToCsvLine(const HistoryPoint& point);

}  // namespace pstrain::local
