#include "runtime/evaluator/evaluator_loop.h"

#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/random.h"
#include "proto/contract/exit_codes.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/cluster/chief_patience.h"
#include "runtime/evaluator/pin_keeper.h"
#include "runtime/evaluator/read_pauses.h"
#include "runtime/rpc/identity/identity.h"

namespace pstrain {
namespace {

constexpr std::chrono::milliseconds kPoll{200};
/// Between two words of what is being read.
constexpr std::chrono::milliseconds kPinPause{1000};

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

/// Has evaluated what the chief names, and writes into the next poll what became of it.
class NamedCheckpoints {
 public:
  /// All of it outlives this. `sequence`: of the last poll.
  NamedCheckpoints(const RoleContext& context, ChiefClient& chief, ChiefPatience& patience,
                   const EvaluateFolder& evaluate, std::uint64_t& sequence)
      : context_(context),
        chief_(chief),
        patience_(patience),
        evaluate_(evaluate),
        sequence_(sequence) {}

  enum class Then : std::uint8_t { kTellScores, kWait, kEnd };
  struct Outcome {
    Then then;
    /// With which the evaluator ends.
    Result<int> ends = kExitSuccess;
  };
  /// kTellScores: the next poll has them.
  Result<Outcome> Evaluate(const std::string& checkpoint, PollEvaluatorRequest& next) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::string folder, FolderOf(context_, checkpoint));
    if (!pauses_.MayRead(checkpoint)) return Outcome{Then::kWait};
    next.set_checkpoint(checkpoint);
    const EvaluationOutcome outcome = EvaluatePinned(folder, next);
    if (outcome.ends) return Outcome{Then::kEnd, *outcome.ends};
    if (outcome.status.ok()) {
      pauses_.Evaluated();
      next.mutable_metrics()->insert(outcome.metrics.begin(), outcome.metrics.end());
      return Outcome{Then::kTellScores};
    }
    // Another evaluation would find the same, and the job would wait for it.
    if (outcome.fails_job) next.set_failure(outcome.status.message());
    next.set_error(outcome.status.ToString());
    if (pauses_.Failed(checkpoint, outcome.status)) {
      LogWarning("evaluator", "a checkpoint could not be evaluated; it is read again after pauses",
                 {{"checkpoint", checkpoint}, {"error", outcome.status}});
    }
    return Outcome{Then::kWait};
  }

 private:
  /// The chief hears meanwhile what is being read. What it answers to that is asked for again after
  /// the evaluation; one that is away hears of it a second later.
  EvaluationOutcome EvaluatePinned(const std::string& folder, const PollEvaluatorRequest& next) {
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
    return evaluate_(folder);
  }

  /// A chief that is away does not end an evaluation; the poll after it says whether it is still.
  void Hear(const Status& answer) {
    if (answer.ok()) return patience_.Heard();
    if (PeerIsAway(answer)) static_cast<void>(patience_.Check(answer));
  }

  const RoleContext& context_;
  ChiefClient& chief_;
  ChiefPatience& patience_;
  const EvaluateFolder& evaluate_;
  std::uint64_t& sequence_;
  const RealClock clock_;
  ReadPauses pauses_{clock_};
};

void Forget(PollEvaluatorRequest& request) {
  request.clear_checkpoint();
  request.clear_metrics();
  request.clear_error();
  request.clear_failure();
}

}  // namespace

EvaluatorLoop::EvaluatorLoop(const RoleContext& context)
    : context_(context),
      stats_(context.stats),
      own_stats_(context.stats),
      chief_(context.chief_address, nullptr, CredentialsOf(context.identity)) {}

Result<int> EvaluatorLoop::Run(const EvaluateFolder& evaluate) {
  const RealClock clock;
  ChiefPatience patience(context_, "evaluator", clock);
  stats_.ready->Set(1);
  PollEvaluatorRequest request;
  request.set_process(RandomSeed());
  request.set_attempt(context_.attempt);
  std::uint64_t sequence = 0;
  NamedCheckpoints named(context_, chief_, patience, evaluate, sequence);
  const FixedDigests job = DigestsOf(context_.job);
  request.mutable_job()->insert(job.begin(), job.end());
  while (true) {
    // SIGTERM alone does not end the evaluator while the chief drains: the last checkpoint is to be
    // seen.
    request.set_sequence(++sequence);
    const Result<PollEvaluatorReply> reply = chief_.PollEvaluator(request);
    if (reply.ok()) {
      patience.Heard();
      if (!reply->refused().empty()) return FailedPreconditionError(reply->refused());
      Forget(request);
      if (const auto code = EndBy(reply->directive())) return *code;
      if (!reply->checkpoint().empty()) {
        PSTRAIN_ASSIGN_OR_RETURN(const NamedCheckpoints::Outcome outcome,
                                 named.Evaluate(reply->checkpoint(), request));
        if (outcome.then == NamedCheckpoints::Then::kEnd) return outcome.ends;
        if (outcome.then == NamedCheckpoints::Then::kTellScores) {
          own_stats_.evaluations->Add();
          continue;
        }
      }
    } else {
      if (!PeerIsAway(reply.status())) return reply.status().WithContext("poll the chief");
      PSTRAIN_RETURN_IF_ERROR(patience.Check(reply.status()));
    }
    if (!PauseFor(kPoll, context_.stop)) return kExitDrained;
  }
}

}  // namespace pstrain
