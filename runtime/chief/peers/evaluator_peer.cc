#include "runtime/chief/peers/evaluator_peer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

/// How long somebody may take to show the restored loss.
constexpr seconds kAnnouncePatience{30};
/// Within this, each evaluator that runs has spoken to a chief that has just begun.
constexpr seconds kAllHaveSpoken{10};
constexpr char kEvalLoss[] = "eval_loss";
/// A job has one evaluator at most.
constexpr std::uint32_t kIndex = 0;

/// The evaluator is in the middle of an evaluation. It asks what to do when it is done.
bool IsReading(const PollEvaluatorRequest& request) {
  return !request.pinned().empty() && request.checkpoint().empty();
}

}  // namespace

EvaluatorPeer::EvaluatorPeer(const ChiefDependencies& chief, std::optional<CheckpointId> newest)
    : chief_(chief),
      attempts_(Role::kEvaluator, chief.clock.Now(), chief.setup.run_age),
      scores_(chief),
      followed_since_(newest ? std::optional(chief.clock.Now()) : std::nullopt),
      seen_(chief.clock.Now()),
      announce_since_(seen_) {
  const RunDirectory& directory = chief_.setup.directory;
  // A program goes on from a mark, and what its function calls eval_loss is its own matter.
  const bool continues = newest.has_value() && !chief_.setup.job.starts_over;
  if (chief_.has_evaluator() && continues) stopped_loss_ = directory.StoppedEvalLoss();
  if (!stopped_loss_) restored_loss_ = directory.RestoredEvalLoss();
  announcing_ = (stopped_loss_ || restored_loss_) && directory.AnnouncementAwaited();
}

Status EvaluatorPeer::CheckAttempt(const PollEvaluatorRequest& request,
                                   std::string_view from) const {
  Status late = attempts_.Check(kIndex, request.attempt(), chief_.clock.Now());
  if (!late.ok()) chief_.refusals.Count(RefusalReason::kOutOfRange, from, late);
  return late;
}

bool EvaluatorPeer::Admit(const PollEvaluatorRequest& request, PollEvaluatorReply& reply) {
  const PeerProcess process{request.process(), request.attempt()};
  reply.set_chief_term(chief_.chief_term());
  if (succession_.Outdated(kIndex, process)) {
    reply.set_directive(REPLACED);
    return false;
  }
  if (process == process_ && request.sequence() <= newest_poll_) {
    reply.set_directive(CONTINUE);
    return false;
  }
  attempts_.Take(kIndex, process.attempt, chief_.clock.Now());
  succession_.Take(kIndex, process);
  process_ = process;
  newest_poll_ = request.sequence();
  return true;
}

void EvaluatorPeer::TakeEvaluation(const PollEvaluatorRequest& request,
                                   std::optional<CheckpointId> newest, std::string_view from) {
  if (!request.error().empty()) {
    std::pair<std::string, std::string> unreadable{request.checkpoint(), request.error()};
    if (unreadable == unreadable_) return;
    unreadable_ = std::move(unreadable);
    LogWarning("chief", "the evaluator could not read a checkpoint",
               {{"checkpoint", request.checkpoint()}, {"error", request.error()}});
    return;
  }
  if (request.checkpoint().empty()) return;
  const std::optional<CheckpointId> id = ParseCheckpointName(request.checkpoint());
  // It is asked for again, if it is of the history that goes on.
  if (id && chief_.setup.job.starts_over && id != named_) return;
  if (id && newest && *id <= *newest) {
    evaluated_ = id;
    if (request.metrics().empty()) return;
    metrics_ = {request.metrics().begin(), request.metrics().end()};
    scores_.Evaluated(*id, metrics_);
    return;
  }
  chief_.refusals.Count(RefusalReason::kOutOfRange, from,
                        OutOfRangeError("the evaluator names a checkpoint that is not there yet"));
}

void EvaluatorPeer::ForgiveGap(std::chrono::nanoseconds gap) {
  seen_ = chief_.Forgiven(seen_, gap);
  if (followed_since_) followed_since_ = chief_.Forgiven(*followed_since_, gap);
  announce_since_ = chief_.Forgiven(announce_since_, gap);
  if (awaited_since_) awaited_since_ = chief_.Forgiven(*awaited_since_, gap);
}

PollEvaluatorReply EvaluatorPeer::Poll(const PollEvaluatorRequest& request, const RunPhase& phase,
                                       std::string_view from) {
  PollEvaluatorReply reply;
  if (!Admit(request, reply)) return reply;
  seen_ = chief_.clock.Now();
  pin_told_ = true;
  reply.set_directive(CONTINUE);
  if (IsReading(request)) {
    pinned_ = ParseCheckpointName(request.pinned());
    return reply;
  }
  TakeEvaluation(request, phase.newest, from);
  *reply.mutable_run() = chief_.run;
  pinned_.reset();
  if (phase.releasing || request.leaving()) {
    reply.set_directive(phase.finished ? FINISH : DRAIN);
    told_end_ = phase.releasing;
    return reply;
  }
  if (phase.newest && phase.newest != evaluated_) {
    pinned_ = phase.newest;
    named_ = phase.newest;
    reply.set_checkpoint(CheckpointName(*phase.newest));
  }
  return reply;
}

void EvaluatorPeer::CheckRestored(std::optional<CheckpointId> newest, bool placed) {
  const seconds deadline = chief_.setup.job.evaluation_deadline.value_or(seconds(0));
  if (stopped_loss_ && !awaited_since_ && chief_.protocol.AllActive()) {
    awaited_since_ = chief_.clock.Now();
    LogInfo("chief", "waiting for the evaluation of the restored state; nothing is granted before",
            {{"given_up_after_seconds", deadline.count()}});
  }
  if (stopped_loss_ && awaited_since_ && chief_.Since(*awaited_since_) > deadline) {
    return GiveRestoredUp();
  }
  if (restored_loss_ && chief_.Since(announce_since_) >= kAnnouncePatience) announcing_ = false;
  if (with_disk_) return;
  if (announcing_ && restored_loss_) return CheckAnnouncement();
  if (!stopped_loss_ || restored_loss_ || !evaluated_ || !placed) return;
  if (evaluated_ != newest) return;
  const auto loss = metrics_.find(kEvalLoss);
  if (loss != metrics_.end()) return WriteRestored(loss->second);
  LogWarning("chief",
             "the evaluation of the restored state has no eval_loss; training continues without",
             {{"checkpoint", CheckpointName(*evaluated_)}});
  ContinueWithoutRestored();
}

void EvaluatorPeer::GiveRestoredUp() {
  LogWarning("chief",
             "evaluator 0 has not evaluated the restored state within "
             "spec.training.evaluation.deadlineSeconds; training continues without its loss",
             {{"seconds", chief_.setup.job.evaluation_deadline.value_or(seconds(0)).count()},
              {"last_heard_seconds_ago", InSeconds(chief_.Since(seen_))}});
  ContinueWithoutRestored();
}

// stopped.json goes: a later chief would take the loss of a later state for that of the restored
// one.
void EvaluatorPeer::ContinueWithoutRestored() {
  stopped_loss_.reset();
  announcing_ = false;
  chief_.disk.Post("remove stopped.json", [this]() -> Disk::Then {
    const Status removed = chief_.setup.directory.ForgetStopped();
    return [removed] {
      if (!removed.ok()) LogWarning("chief", "stopped.json stays", {{"error", removed}});
    };
  });
}

void EvaluatorPeer::CheckAnnouncement() {
  with_disk_ = true;
  chief_.disk.Post("look for an announcement", [this]() -> Disk::Then {
    const bool awaited = chief_.setup.directory.AnnouncementAwaited();
    return [this, awaited] {
      with_disk_ = false;
      announcing_ = announcing_ && awaited;
    };
  });
}

// Nothing is granted before the file is there: a later chief must not take a later state for the
// restored one.
void EvaluatorPeer::WriteRestored(double loss) {
  LogInfo("chief", "the restored state was evaluated",
          {{"eval_loss", *stopped_loss_}, {"restored_eval_loss", loss}});
  with_disk_ = true;
  chief_.disk.Post("write restored.json", [this, loss]() -> Disk::Then {
    const Status written = chief_.setup.directory.WriteRestored(loss);
    return [this, loss, written] {
      with_disk_ = false;
      if (!written.ok()) LogWarning("chief", "restored.json not written", {{"error", written}});
      restored_loss_ = loss;
      stopped_loss_.reset();
      announce_since_ = chief_.clock.Now();
    };
  });
}

bool EvaluatorPeer::Done(std::optional<CheckpointId> newest) const {
  return !chief_.has_evaluator() || (newest && evaluated_ == newest && scores_.Settled());
}

// A program's evaluation is its own: no field of its job says how long it may take.
void EvaluatorPeer::SayFinalGivenUp() const {
  const ChiefJob& job = chief_.setup.job;
  const std::string field = job.evaluation_digest ? "spec.training.evaluation.deadlineSeconds" : "";
  LogWarning("chief",
             "no final evaluation came within " +
                 FieldOrTime(field, WholeSeconds(job.evaluation_deadline.value_or(seconds(0)))));
}

// Rule 10. Invariant: what a later attempt reads is not deleted because an earlier one, which reads
// something else, was heard first.
bool EvaluatorPeer::PinKnown() const {
  if (!chief_.has_evaluator() || SilentFor(chief_.context.peer_timeout())) return true;
  return pin_told_ && (!followed_since_ || chief_.Since(*followed_since_) >= kAllHaveSpoken);
}

}  // namespace pstrain
