#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/contract/run/evaluations.pb.h"

namespace pstrain {

/// Which evaluation is the best, and when a metric has not got better for too long. Values and pure
/// functions; any thread.

/// By which of two values is better.
struct ScoreRule {
  enum class Better : std::uint8_t { kHigher, kLower, kCloserToOne };

  /// As runtime/evaluator/metric_report.h names it.
  std::string metric;
  Better better = Better::kHigher;

  /// How much better `value` is than `than`; negative when it is worse. REQUIRES: both are finite.
  double Gain(double value, double than) const;
  /// The value of the metric; nothing when the evaluation has none, or it is not finite.
  std::optional<double> ValueOf(const ScoredCheckpoint& scored) const;
};

/// spec.training.earlyStopping.
struct EarlyStoppingRule {
  ScoreRule score;
  /// Evaluations in a row that were not better by more than `min_delta`.
  std::uint32_t patience = 1;
  double min_delta = 0;
};

/// Adds it to the history: in place of the last one when that is of the same checkpoint or of the
/// same examples, as after a restart, so that nothing counts twice. By `keep_best` it is the best
/// when it is better than the best so far; of equal ones the first stays. A best of another metric
/// counts no more.
void AddEvaluation(ScoredCheckpoint scored, const std::optional<ScoreRule>& keep_best,
                   RunEvaluations& evaluations);

/// How long a metric has not got better.
struct Waited {
  /// The last evaluation that was better than all before it; nothing when none has a value.
  std::optional<ScoredCheckpoint> best;
  /// Evaluations since then. One without a finite value is not better.
  std::uint32_t evaluations = 0;
};
Waited WaitedIn(const RunEvaluations& evaluations, const EarlyStoppingRule& rule);

}  // namespace pstrain
