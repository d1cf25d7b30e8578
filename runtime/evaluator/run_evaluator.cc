#include "runtime/evaluator/run_evaluator.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "base/os/files.h"
#include "base/random.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/cluster/chief_patience.h"
#include "runtime/evaluator/metric_report.h"
#include "runtime/evaluator/metrics.h"
#include "runtime/evaluator/pin_keeper.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/model.h"
#include "runtime/rpc/chief_client.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {
namespace {

constexpr std::chrono::milliseconds kPoll{200};
/// Between two words of what is being read.
constexpr std::chrono::milliseconds kPinPause{1000};
constexpr std::uint32_t kRecordsPerBatch = 512;
constexpr const char* kInputField = "spec.training.evaluation.input";

/// The model over the values of one checkpoint; OUT_OF_RANGE as CheckScores.
class CheckpointEvaluation {
 public:
  static Result<MetricValues> Run(const std::string& checkpoint_directory, const Model& model,
                                  SequentialReader& input, const std::stop_token& stop) {
    PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader checkpoint,
                             CheckpointReader::Open(checkpoint_directory));
    Parameters values;
    for (const VariableSpec& variable : model.variables()) {
      values.dense.emplace_back();
      if (variable.kind() != VariableSpec::DENSE) continue;
      PSTRAIN_ASSIGN_OR_RETURN(values.dense.back(), checkpoint.Dense(variable.name()));
    }
    PSTRAIN_RETURN_IF_ERROR(input.Rewind());
    BinaryMetrics metrics;
    while (!stop.stop_requested()) {
      PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, input.Next(kRecordsPerBatch));
      if (batch.records + batch.skipped == 0) {
        PSTRAIN_RETURN_IF_ERROR(CheckScores(metrics, BaseName(checkpoint_directory)));
        return metrics.Compute();
      }
      const BatchPlan plan = model.Plan(batch);
      values.rows.clear();
      for (const RowRequest& request : plan.requests) {
        const auto variable = static_cast<std::size_t>(request.variable);
        PSTRAIN_ASSIGN_OR_RETURN(values.rows.emplace_back(),
                                 checkpoint.Rows(model.variables()[variable].name(), request.rows));
      }
      metrics.Add(model.Predict(batch, plan, values), batch.labels);
    }
    return CancelledError("told to stop");
  }
};

/// One evaluation, during which the chief hears what is being read. What it answers to that is
/// asked for again after the evaluation; one that is away hears of it a second later.
Result<MetricValues> EvaluatePinned(ChiefClient& chief, const PollEvaluatorRequest& request,
                                    const std::string& folder, const Model& model,
                                    SequentialReader& input, const std::stop_token& stop,
                                    std::uint64_t& sequence) {
  PollEvaluatorRequest reading;
  reading.set_process(request.process());
  reading.set_attempt(request.attempt());
  reading.set_pinned(request.checkpoint());
  // One thread at a time counts: the keeper's has ended when its object is gone.
  const PinKeeper keeper(
      [&] {
        reading.set_sequence(++sequence);
        static_cast<void>(chief.PollEvaluator(reading));
      },
      kPinPause);
  return CheckpointEvaluation::Run(folder, model, input, stop);
}

/// What the chief names goes through its parser before it becomes a path.
Result<std::string> FolderOf(const RoleContext& context, const std::string& checkpoint) {
  const std::optional<CheckpointId> id = ParseCheckpointName(checkpoint);
  if (!id) return InvalidArgumentError("the chief names a checkpoint that is none");
  return CheckpointDirectory(context.run_directory(), *id);
}

/// Writes into the next poll what became of the evaluation that `request` names. Not OK: the input
/// is bad, which no other checkpoint changes.
Status Tell(const RoleContext& context, const Result<MetricValues>& metrics,
            PollEvaluatorRequest& request) {
  if (metrics.ok()) {
    const auto reported = ReportedMetrics(*metrics, context.training().evaluation());
    request.mutable_metrics()->insert(reported.begin(), reported.end());
    LogInfo("evaluator", "evaluated",
            {{"checkpoint", request.checkpoint()},
             {"auc", metrics->auc},
             {"log_loss", metrics->log_loss}});
    return OkStatus();
  }
  if (metrics.status().code() == StatusCode::kInvalidArgument) {
    return metrics.status().WithContext(kInputField);
  }
  // Another evaluation would find the same, and the job would wait for it.
  if (metrics.status().code() == StatusCode::kOutOfRange) {
    request.set_failure(metrics.status().message());
  }
  request.set_error(metrics.status().ToString());
  LogWarning("evaluator", "a checkpoint could not be evaluated", {{"error", metrics.status()}});
  return OkStatus();
}

}  // namespace

Result<int> RunEvaluator(const RoleContext& context) {
  RuntimeStats stats(context.stats);
  EvaluatorStats own_stats(context.stats);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(context.training()));
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const FeatureSet> features,
                           CreateFeatures(context.training(), *model));
  const Result<std::unique_ptr<SequentialReader>> input =
      SequentialReader::Create(context.training().evaluation().input(), features, context.scratch);
  if (!input.ok()) return input.status().WithContext(kInputField);
  ChiefClient chief(context.chief_address, nullptr, CredentialsOf(context.identity));
  ChiefPatience patience(context);
  stats.ready->Set(1);
  PollEvaluatorRequest request;
  request.set_process(RandomSeed());
  request.set_attempt(context.attempt);
  std::uint64_t sequence = 0;
  const FixedDigests job = DigestsOf(context.job.spec());
  request.mutable_job()->insert(job.begin(), job.end());
  while (true) {
    // SIGTERM alone does not end the evaluator while the chief drains: the last checkpoint is to be
    // seen.
    request.set_sequence(++sequence);
    const Result<PollEvaluatorReply> reply = chief.PollEvaluator(request);
    if (reply.ok()) {
      patience.Renew();
      if (!reply->refused().empty()) return FailedPreconditionError(reply->refused());
      request.clear_job();
      request.clear_checkpoint();
      request.clear_metrics();
      request.clear_error();
      request.clear_failure();
      if (reply->directive() == FINISH) return kExitSuccess;
      if (reply->directive() == DRAIN) return kExitDrained;
      if (reply->directive() == REPLACED) return kExitDisrupted;
      if (!reply->checkpoint().empty()) {
        PSTRAIN_ASSIGN_OR_RETURN(const std::string folder, FolderOf(context, reply->checkpoint()));
        request.set_checkpoint(reply->checkpoint());
        const Result<MetricValues> metrics =
            EvaluatePinned(chief, request, folder, *model, **input, context.stop, sequence);
        patience.Renew();  // the time of an evaluation is not time without an answer
        PSTRAIN_RETURN_IF_ERROR(Tell(context, metrics, request));
        if (metrics.ok()) {
          own_stats.evaluations->Add();
          continue;
        }
      }
    } else {
      PSTRAIN_RETURN_IF_ERROR(patience.Check());
    }
    if (!PauseFor(kPoll, context.stop)) return kExitDrained;
  }
}

}  // namespace pstrain
