#include "runtime/model/training/training_jobs.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/os/files.h"
#include "proto/job/fixed_fields.h"
#include "proto/job/model_kind.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/model.h"
#include "runtime/model/training/training_input.h"
#include "runtime/model/training/training_step.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

/// By the name that an evaluation reports it by (runtime/evaluator/metric_report.h).
std::optional<ScoreRule> ScoreRuleOf(Evaluation::Metric metric) {
  switch (metric) {
    case Evaluation::auc:
      return ScoreRule{"auc", ScoreRule::Better::kHigher};
    case Evaluation::accuracy:
      return ScoreRule{"accuracy", ScoreRule::Better::kHigher};
    case Evaluation::logLoss:
      return ScoreRule{"log_loss", ScoreRule::Better::kLower};
    case Evaluation::calibration:
      return ScoreRule{"calibration", ScoreRule::Better::kCloserToOne};
    default:  // the manifest reader admits no other
      return std::nullopt;
  }
}

/// Without an evaluation there are no rules over it.
void AddScoreRules(const Training& training, ChiefJob& chief) {
  if (training.checkpoint().has_keep_best()) {
    chief.keep_best = ScoreRuleOf(training.checkpoint().keep_best().metric());
  }
  if (!training.has_early_stopping()) return;
  const EarlyStopping& stopping = training.early_stopping();
  const std::optional<ScoreRule> score = ScoreRuleOf(stopping.metric());
  if (!score) return;
  chief.early_stopping = EarlyStoppingRule{*score, static_cast<std::uint32_t>(stopping.patience()),
                                           stopping.min_delta()};
  if (!chief.keep_best) chief.keep_best = score;
}

/// Refuses features over columns that the input does not have here, before anybody trains: the
/// workers would find out one after the other.
Status CheckInputFits(const Training& training, const Model& model,
                      std::shared_ptr<const InputIndex> index, const std::string& scratch) {
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<const FeatureSet> features,
                           CreateFeatures(training, model));
  return BatchReader::Create(training.input(), std::move(features), std::move(index),
                             {.scratch = scratch})
      .status();
}

Result<ChiefJob::Work> OpenWork(const Training& training, const ChiefJob::Place& place) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const InputIndex> index,
                           OpenIndex(training, place));
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(training));
  PSTRAIN_RETURN_IF_ERROR(CheckInputFits(training, *model, index, place.scratch));
  ChiefJob::Work work = WorkOf(training, index);
  work.variables = model->variables();
  return work;
}

}  // namespace

Status CheckHasTraining(const PSTrainingJob& job) {
  if (job.spec().has_training()) return OkStatus();
  return FailedPreconditionError(
      "the job has no spec.training; give the template's container a command of its own");
}

JobSettings SettingsOf(const PSTrainingJob& job) {
  const Training& training = job.spec().training();
  return {.spec = job.spec(),
          .checkpoint_directory = training.checkpoint().directory(),
          .peer_timeout = seconds(training.peer_timeout_seconds()),
          .fields = {.checkpoint_directory = "spec.training.checkpoint.directory",
                     .epochs = "spec.training.epochs",
                     .on_non_finite = "spec.training.onNonFinite",
                     .optimizer = "spec.training.optimizer",
                     .peer_timeout = "spec.training.peerTimeoutSeconds"}};
}

ChiefJob ChiefJobOf(const PSTrainingJob& job) {
  const Training& training = job.spec().training();
  ChiefJob chief;
  chief.epochs = static_cast<std::uint32_t>(training.epochs());
  chief.batch_size = static_cast<std::uint32_t>(training.batch_size());
  chief.rejoin_timeout = seconds(training.rejoin_timeout_seconds());
  chief.checkpoints = ChiefJob::Checkpoints::Of(training.checkpoint());
  if (training.has_evaluation()) {
    chief.evaluation_deadline = seconds(training.evaluation().deadline_seconds());
    chief.evaluation_digest = EvaluationDigest(training);
    AddScoreRules(training, chief);
  }
  if (training.restore().has_run()) {
    const RestoreRun& run = training.restore().run();
    chief.warm_start = WarmStart{
        run.path().empty() ? JoinPath(training.checkpoint().directory(), run.id()) : run.path(),
        run.checkpoint()};
  }
  chief.open_work = [training](const ChiefJob::Place& place) { return OpenWork(training, place); };
  return chief;
}

// A push is cut at 2 MiB between shards; the gradients of one shard stay together, and the largest
// of them is that of a layer between two hidden ones.
PsJob PsJobOf(const PSTrainingJob& job) {
  constexpr std::uint64_t kRowsAndTheRest = 256 << 20;
  const std::uint64_t widest = WidestHiddenLayer(job.spec().training().model());
  return {.message_bytes = kRowsAndTheRest + widest * widest * sizeof(float)};
}

WorkerJob WorkerJobOf(const PSTrainingJob& job) {
  const Training& training = job.spec().training();
  return {.leave_out_non_finite = training.on_non_finite() == Training::Skip,
          .create_step = [training](const RoleContext& context, TryAgain::Pause pause) {
            return CreateTrainingStep(training, context, std::move(pause));
          }};
}

}  // namespace pstrain
