#include "library/remote/evaluator/sidecar.h"

#include <cmath>
#include <map>
#include <memory>

#include "base/log.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "library/call_guarded.h"
#include "library/remote/evaluator/saved_state.h"

namespace pstrain::program {
namespace {

/// Without those that are not finite: the chief would fail the job, and the loss of an evaluation
/// costs the job nothing.
std::map<std::string, double> Finite(const EvaluatedMetrics& metrics,
                                     const std::string& checkpoint) {
  std::map<std::string, double> finite;
  for (const auto& [name, value] : metrics) {
    if (std::isfinite(value)) {
      finite[name] = value;
      continue;
    }
    LogWarning("evaluator", "a metric is infinite or not a number, and is not reported",
               {{"checkpoint", checkpoint}, {"metric", name}, {"value", value}});
  }
  return finite;
}

std::string TextOf(const std::map<std::string, double>& metrics) {
  Json object = Json::Object();
  for (const auto& [name, value] : metrics) object.Set(name, Json::Double(value));
  return WriteJson(object);
}

std::string TextOf(const std::optional<std::int64_t>& mark) {
  return mark ? std::to_string(*mark) : std::string("none");
}

}  // namespace

EvaluationOutcome Sidecar::Evaluate(const std::string& folder) {
  // The chief hears that it need not wait for this one.
  if (done_) return {};
  const Result<std::shared_ptr<SavedState>> state = SavedState::Open(folder, stop_);
  if (!state.ok()) return {.status = state.status()};
  const SavedState& saved = **state;
  const Result<EvaluatedMetrics> metrics =
      CallGuarded("the evaluation function", [&] { return evaluate_(SavedVariables(*state)); });
  if (!metrics.ok()) {
    if (stop_.stop_requested()) return {.status = CancelledError("told to stop")};
    if (!saved.failure().ok()) return {.status = saved.failure()};
    return {.ends =
                metrics.status().WithContext("the evaluation of checkpoint " + saved.checkpoint())};
  }
  std::map<std::string, double> finite = Finite(*metrics, saved.checkpoint());
  LogInfo("evaluator", "evaluated",
          {{"checkpoint", saved.checkpoint()},
           {"mark", TextOf(saved.mark())},
           {"final", saved.is_final()},
           {"metrics", TextOf(finite)}});
  done_ = last_mark_ && saved.mark() && *saved.mark() >= *last_mark_;
  return {.metrics = std::move(finite)};
}

}  // namespace pstrain::program
