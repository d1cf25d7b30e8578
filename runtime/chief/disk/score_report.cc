#include "runtime/chief/disk/score_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "proto/contract/run_files.h"

namespace pstrain {
namespace {

Json ValueOf(const ScoredCheckpoint& scored, const std::string& metric) {
  const auto found = scored.metrics().find(metric);
  return found == scored.metrics().end() ? Json::Null() : Json::Double(found->second);
}

/// In the order of their names.
Json ScoredOf(const ScoredCheckpoint& scored) {
  Json json = Json::Object();
  json.Set("checkpoint", Json::String(scored.checkpoint()));
  json.Set("examples_committed", Json::Int(scored.examples_committed()));
  const std::map<std::string, double> metrics(scored.metrics().begin(), scored.metrics().end());
  for (const auto& [name, value] : metrics) json.Set(name, Json::Double(value));
  return json;
}

/// By that metric.
Json BestOf(const ScoredCheckpoint& best, const std::string& metric) {
  Json json = Json::Object();
  json.Set("metric", Json::String(metric));
  json.Set("value", ValueOf(best, metric));
  json.Set("checkpoint", Json::String(best.checkpoint()));
  json.Set("examples_committed", Json::Int(best.examples_committed()));
  return json;
}

}  // namespace

void AddScores(const RunEvaluations& evaluations, Json& result) {
  if (evaluations.has_best()) {
    result.Set(kResultBest, BestOf(evaluations.best(), evaluations.best_metric()));
  }
  if (evaluations.has_early_stop()) {
    const EarlyStop& stop = evaluations.early_stop();
    Json json = Json::Object();
    json.Set("reason", Json::String(kEarlyStopped));
    json.Set("metric", Json::String(stop.metric()));
    json.Set("patience", Json::Uint(stop.patience()));
    json.Set("min_delta", Json::Double(stop.min_delta()));
    json.Set("after_examples", Json::Int(stop.examples_committed()));
    json.Set("best", stop.has_best() ? BestOf(stop.best(), stop.metric()) : Json::Null());
    result.Set(kResultEarlyStopped, std::move(json));
  }
  if (evaluations.history().empty()) return;
  Json history = Json::Array();
  for (const ScoredCheckpoint& scored : evaluations.history()) history.Append(ScoredOf(scored));
  result.Set(kResultHistory, std::move(history));
}

}  // namespace pstrain
