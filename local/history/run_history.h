#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/json.h"
#include "local/history/history_point.h"
#include "local/replicas/agent_reading.h"

namespace pstrain::local {

/// The course of a run as `pstrain run` sees it: a point for each interval of progress, for each
/// evaluation that the chief has heard of, and for each event. The interval is 0.2 s at first, and
/// doubles when there are 2,048 points of it, so that a run of days has a few thousand. One thread.
class RunHistory {
 public:
  using Sink = std::function<void(const HistoryPoint& point)>;

  /// `epochs`: 0 where the job has none. `before`: seconds of earlier parts of the run.
  RunHistory(int epochs, double before) : epochs_(epochs), before_(before) {}

  /// Told of each point as it comes.
  void AddSink(Sink sink) { sinks_.push_back(std::move(sink)); }

  /// What the chief says, so many seconds after this part of the run began.
  void Observe(const AgentReading& chief, double seconds);
  /// What happened to a replica.
  void Event(const std::string& text, double seconds);
  /// The result of a run that has ended: its metrics are an evaluation, unless they were the last
  /// one's.
  void Finish(const Json& result, double seconds);

  /// Of the training, as it was seen last.
  const std::optional<double>& loss() const { return now_.loss; }
  /// Of the evaluation that was seen last; nothing when there is none.
  std::optional<double> Last(std::string_view metric) const;
  /// The evaluation at which a metric was best (highest; of log_loss lowest; of calibration nearest
  /// to 1), with its value; nothing when there is none.
  std::optional<std::pair<double, HistoryPoint>> Best(std::string_view metric) const;

 private:
  HistoryPoint At(PointKind kind, double seconds) const;
  void Add(HistoryPoint point);
  void AddEvaluation(std::map<std::string, double, std::less<>> metrics, double seconds);

  int epochs_;
  double before_;
  std::vector<Sink> sinks_;
  /// The newest reading: its counts are those of whatever is added.
  HistoryPoint now_;
  double interval_ = 0.2;
  std::optional<double> progress_at_;
  int points_of_interval_ = 0;
  std::map<std::string, double, std::less<>> last_metrics_;
  std::vector<HistoryPoint> evaluations_;
};

}  // namespace pstrain::local
