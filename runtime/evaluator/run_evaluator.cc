#include "runtime/evaluator/run_evaluator.h"

#include <limits>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/os/files.h"
#include "runtime/cluster/permanent_failure.h"
#include "runtime/evaluator/checkpoint_evaluation.h"
#include "runtime/evaluator/evaluator_loop.h"
#include "runtime/evaluator/metric_report.h"
#include "runtime/evaluator/metrics.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/model.h"

namespace pstrain {
namespace {

constexpr const char* kInputField = "spec.training.evaluation.input";

EvaluationOutcome Evaluate(const RoleContext& context, const Training& training, const Model& model,
                           SequentialReader& input, const std::string& folder) {
  const Result<CheckpointScores> scores =
      EvaluateCheckpoint(folder, model, input, training.evaluation().input(), context.stop);
  if (!scores.ok()) {
    // The input is bad, which no other checkpoint changes.
    if (scores.status().code() == StatusCode::kInvalidArgument) {
      return {.ends = EndOfInput(context, scores.status().WithContext(kInputField))};
    }
    return {.status = scores.status(),
            .fails_job = scores.status().code() == StatusCode::kOutOfRange};
  }
  const MetricValues& metrics = scores->metrics;
  LogInfo("evaluator", "evaluated",
          {{"checkpoint", BaseName(folder)},
           {"auc", metrics.auc.value_or(std::numeric_limits<double>::quiet_NaN())},
           {"log_loss", metrics.log_loss}});
  return {.metrics = ReportedMetrics(metrics, training.evaluation())};
}

}  // namespace

Result<int> RunEvaluator(const RoleContext& context, const Training& training) {
  EvaluatorLoop loop(context);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(training));
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const FeatureSet> features,
                           CreateFeatures(training, *model));
  const Result<std::unique_ptr<SequentialReader>> input = SequentialReader::Create(
      training.evaluation().input(), features, {.scratch = context.scratch});
  if (!input.ok()) return EndOfInput(context, input.status().WithContext(kInputField));
  return loop.Run([&](const std::string& folder) {
    return Evaluate(context, training, *model, **input, folder);
  });
}

}  // namespace pstrain
