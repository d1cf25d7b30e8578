#include "runtime/evaluator/run_evaluator.h"

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/os/files.h"
#include "base/random.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/cluster/chief_patience.h"
#include "runtime/cluster/permanent_failure.h"
#include "runtime/evaluator/checkpoint_evaluation.h"
#include "runtime/evaluator/metric_report.h"
#include "runtime/evaluator/metrics.h"
#include "runtime/evaluator/pin_keeper.h"
#include "runtime/evaluator/read_pauses.h"
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
constexpr const char* kInputField = "spec.training.evaluation.input";

/// What the chief names goes through its parser before it becomes a path.
Result<std::string> FolderOf(const RoleContext& context, const std::string& checkpoint) {
  const std::optional<CheckpointId> id = ParseCheckpointName(checkpoint);
  if (!id) return InternalError("the chief names a checkpoint with a malformed name");
  return CheckpointDirectory(context.run_directory(), *id);
}

/// The exit code when a poll is answered so; nothing: the evaluator goes on.
std::optional<int> EndBy(Directive directive) {
  if (directive == FINISH) return kExitSuccess;
  if (directive == DRAIN) return kExitDrained;
  if (directive == REPLACED) return kExitDisrupted;
  return std::nullopt;
}

/// Evaluates what the chief names, and writes into the next poll what became of it.
class NamedCheckpoints {
 public:
  /// All of it outlives this. `sequence`: of the last poll.
  NamedCheckpoints(const RoleContext& context, const Training& training, ChiefClient& chief,
                   ChiefPatience& patience, const Model& model, SequentialReader& input,
                   std::uint64_t& sequence)
      : context_(context),
        training_(training),
        chief_(chief),
        patience_(patience),
        model_(model),
        input_(input),
        sequence_(sequence) {}

  /// True: the next poll has the scores. Not OK: the input is bad, which no other checkpoint
  /// changes.
  Result<bool> Evaluate(const std::string& checkpoint, PollEvaluatorRequest& next) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::string folder, FolderOf(context_, checkpoint));
    if (!pauses_.MayRead(checkpoint)) return false;
    next.set_checkpoint(checkpoint);
    const Result<MetricValues> metrics = EvaluatePinned(folder, next);
    PSTRAIN_RETURN_IF_ERROR(Tell(metrics, next));
    return metrics.ok();
  }

 private:
  /// The chief hears meanwhile what is being read. What it answers to that is asked for again after
  /// the evaluation; one that is away hears of it a second later.
  Result<MetricValues> EvaluatePinned(const std::string& folder, const PollEvaluatorRequest& next) {
    PollEvaluatorRequest reading;
    reading.set_process(next.process());
    reading.set_attempt(next.attempt());
    reading.set_pinned(next.checkpoint());
    *reading.mutable_job() = next.job();
    // One thread at a time counts: the keeper's has ended when its object is gone.
    const PinKeeper keeper(
        [&] {
          reading.set_sequence(++sequence_);
          const Result<PollEvaluatorReply> reply = chief_.PollEvaluator(reading);
          Hear(reply.status());
          if (!reply.ok()) return;
          // Nobody waits for what is read now, and the disk may not give it.
          if (const auto code = EndBy(reply->directive())) context_.Decided(*code);
        },
        kPinPause);
    PSTRAIN_ASSIGN_OR_RETURN(
        const CheckpointScores scores,
        EvaluateCheckpoint(folder, model_, input_, training_.evaluation().input(), context_.stop));
    return scores.metrics;
  }

  /// A chief that is away does not end an evaluation; the poll after it says whether it is still.
  void Hear(const Status& answer) {
    if (answer.ok()) return patience_.Heard();
    if (PeerIsAway(answer)) static_cast<void>(patience_.Check(answer));
  }

  Status Tell(const Result<MetricValues>& metrics, PollEvaluatorRequest& next) {
    if (metrics.ok()) {
      pauses_.Evaluated();
      const auto reported = ReportedMetrics(*metrics, training_.evaluation());
      next.mutable_metrics()->insert(reported.begin(), reported.end());
      LogInfo("evaluator", "evaluated",
              {{"checkpoint", next.checkpoint()},
               {"auc", metrics->auc.value_or(std::numeric_limits<double>::quiet_NaN())},
               {"log_loss", metrics->log_loss}});
      return OkStatus();
    }
    if (metrics.status().code() == StatusCode::kInvalidArgument) {
      return metrics.status().WithContext(kInputField);
    }
    // Another evaluation would find the same, and the job would wait for it.
    if (metrics.status().code() == StatusCode::kOutOfRange) {
      next.set_failure(metrics.status().message());
    }
    next.set_error(metrics.status().ToString());
    if (pauses_.Failed(next.checkpoint(), metrics.status())) {
      LogWarning("evaluator", "a checkpoint could not be evaluated; it is read again after pauses",
                 {{"checkpoint", next.checkpoint()}, {"error", metrics.status()}});
    }
    return OkStatus();
  }

  const RoleContext& context_;
  const Training& training_;
  ChiefClient& chief_;
  ChiefPatience& patience_;
  const Model& model_;
  SequentialReader& input_;
  std::uint64_t& sequence_;
  const RealClock clock_;
  ReadPauses pauses_{clock_};
};

}  // namespace

Result<int> RunEvaluator(const RoleContext& context, const Training& training) {
  RuntimeStats stats(context.stats);
  EvaluatorStats own_stats(context.stats);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(training));
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const FeatureSet> features,
                           CreateFeatures(training, *model));
  const Result<std::unique_ptr<SequentialReader>> input = SequentialReader::Create(
      training.evaluation().input(), features, {.scratch = context.scratch});
  if (!input.ok()) return EndOfInput(context, input.status().WithContext(kInputField));
  ChiefClient chief(context.chief_address, nullptr, CredentialsOf(context.identity));
  const RealClock clock;
  ChiefPatience patience(context, "evaluator", clock);
  stats.ready->Set(1);
  PollEvaluatorRequest request;
  request.set_process(RandomSeed());
  request.set_attempt(context.attempt);
  std::uint64_t sequence = 0;
  NamedCheckpoints named(context, training, chief, patience, *model, **input, sequence);
  const FixedDigests job = DigestsOf(context.job.spec);
  request.mutable_job()->insert(job.begin(), job.end());
  while (true) {
    // SIGTERM alone does not end the evaluator while the chief drains: the last checkpoint is to be
    // seen.
    request.set_sequence(++sequence);
    const Result<PollEvaluatorReply> reply = chief.PollEvaluator(request);
    if (reply.ok()) {
      patience.Heard();
      if (!reply->refused().empty()) return FailedPreconditionError(reply->refused());
      request.clear_checkpoint();
      request.clear_metrics();
      request.clear_error();
      request.clear_failure();
      if (const auto code = EndBy(reply->directive())) return *code;
      if (!reply->checkpoint().empty()) {
        const Result<bool> evaluated = named.Evaluate(reply->checkpoint(), request);
        if (!evaluated.ok()) return EndOfInput(context, evaluated.status());
        if (*evaluated) {
          own_stats.evaluations->Add();
          continue;
        }
      }
    } else {
      if (!PeerIsAway(reply.status())) return reply.status().WithContext("poll the chief");
      PSTRAIN_RETURN_IF_ERROR(patience.Check(reply.status()));
    }
    if (!PauseFor(kPoll, context.stop)) return kExitDrained;
  }
}

}  // namespace pstrain
