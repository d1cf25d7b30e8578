#include "runtime/chief/disk/score_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/checkpoint/evaluations.h"

namespace pstrain {

double ScoreRule::Gain(double value, double than) const {
  switch (better) {
    case Better::kHigher:
      return value - than;
    case Better::kLower:
      return than - value;
    case Better::kCloserToOne:
      return std::abs(than - 1) - std::abs(value - 1);
  }
  return 0;
}

std::optional<double> ScoreRule::ValueOf(const ScoredCheckpoint& scored) const {
  const auto found = scored.metrics().find(metric);
  if (found == scored.metrics().end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

void AddEvaluation(ScoredCheckpoint scored, const std::optional<ScoreRule>& keep_best,
                   RunEvaluations& evaluations) {
  auto& history = *evaluations.mutable_history();
  const bool again =
      !history.empty() && (history.rbegin()->checkpoint() == scored.checkpoint() ||
                           history.rbegin()->examples_committed() == scored.examples_committed());
  if (again) {
    *history.rbegin() = scored;
  } else {
    *history.Add() = scored;
  }
  if (history.size() > kMostEvaluations) {
    const int dropped = history.size() - kMostEvaluations;
    history.DeleteSubrange(0, dropped);
    evaluations.set_not_counted(
        std::max(evaluations.not_counted(), static_cast<std::uint32_t>(dropped)) -
        static_cast<std::uint32_t>(dropped));
  }
  if (!keep_best || evaluations.best_metric() != keep_best->metric) evaluations.clear_best();
  evaluations.set_best_metric(keep_best ? keep_best->metric : "");
  const std::optional<double> value = keep_best ? keep_best->ValueOf(scored) : std::nullopt;
  if (!value) return;
  const std::optional<double> best = keep_best->ValueOf(evaluations.best());
  const bool same = evaluations.best().checkpoint() == scored.checkpoint();
  if (!best || same || keep_best->Gain(*value, *best) > 0) {
    *evaluations.mutable_best() = std::move(scored);
  }
}

Waited WaitedIn(const RunEvaluations& evaluations, const EarlyStoppingRule& rule) {
  Waited waited;
  const int counted = static_cast<int>(evaluations.not_counted());
  for (int i = counted; i < evaluations.history_size(); ++i) {
    const ScoredCheckpoint& scored = evaluations.history(i);
    const std::optional<double> value = rule.score.ValueOf(scored);
    const bool better =
        value && (!waited.best ||
                  rule.score.Gain(*value, *rule.score.ValueOf(*waited.best)) > rule.min_delta);
    if (better) waited.best = scored;
    waited.evaluations = better ? 0 : waited.evaluations + 1;
  }
  return waited;
}

}  // namespace pstrain
