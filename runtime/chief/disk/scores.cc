#include "runtime/chief/disk/scores.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/checkpoint/evaluations.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/chief/disk/score_rules.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

std::string TextOf(const ScoredCheckpoint& scored, const std::string& metric) {
  const auto found = scored.metrics().find(metric);
  return found == scored.metrics().end() ? "none" : std::to_string(found->second);
}

EarlyStop DecisionOf(const RunEvaluations& evaluations, const ChiefJob& job,
                     const AppliedSet& granted) {
  const EarlyStoppingRule& rule = *job.early_stopping;
  EarlyStop stop;
  stop.set_metric(rule.score.metric);
  stop.set_patience(rule.patience);
  stop.set_min_delta(rule.min_delta);
  stop.set_epochs(job.epochs);
  stop.set_granted(granted.Serialize());
  const Waited waited = WaitedIn(evaluations, rule);
  if (waited.best) *stop.mutable_best() = *waited.best;
  if (!evaluations.history().empty()) {
    stop.set_examples_committed(evaluations.history().rbegin()->examples_committed());
  }
  return stop;
}

/// The field of earlyStopping that is not as it was when the run was stopped early, with both
/// values; empty: none.
std::string ChangedSince(const EarlyStop& stop, const std::optional<EarlyStoppingRule>& rule) {
  const auto changed = [](const std::string& field, const std::string& was, const std::string& is) {
    return "spec.training.earlyStopping" + field + " was " + was +
           " when the run was stopped early and is " + is + " now";
  };
  if (!rule) return changed("", "there", "absent");
  if (rule->score.metric != stop.metric()) {
    return changed(".metric", stop.metric(), rule->score.metric);
  }
  if (rule->patience != stop.patience()) {
    return changed(".patience", std::to_string(stop.patience()), std::to_string(rule->patience));
  }
  if (rule->min_delta != stop.min_delta()) {
    return changed(".minDelta", std::to_string(stop.min_delta()), std::to_string(rule->min_delta));
  }
  return {};
}

}  // namespace

Result<RunEvaluations> OpenEvaluations(const std::string& run_directory, const ChiefJob& job,
                                       const std::string& epochs_field) {
  PSTRAIN_ASSIGN_OR_RETURN(RunEvaluations evaluations, ReadEvaluations(run_directory));
  if (job.evaluation_digest && *job.evaluation_digest != evaluations.evaluation()) {
    if (!evaluations.history().empty()) {
      LogWarning("chief", "the evaluation is another one now: scores are compared from here on",
                 {{"evaluations", evaluations.history_size()}});
    }
    evaluations.clear_history();
    evaluations.clear_best();
    evaluations.set_not_counted(0);
    evaluations.set_evaluation(*job.evaluation_digest);
  }
  if (!evaluations.has_early_stop()) return evaluations;
  const EarlyStop& stop = evaluations.early_stop();
  if (job.epochs > stop.epochs()) {
    LogInfo("chief", "the run was stopped early; with more epochs it goes on",
            {{"epochs", job.epochs}, {"before", stop.epochs()}});
    evaluations.clear_early_stop();
    evaluations.set_not_counted(static_cast<std::uint32_t>(evaluations.history_size()));
    return evaluations;
  }
  if (const std::string changed = ChangedSince(stop, job.early_stopping); !changed.empty()) {
    return FailedPreconditionError(changed + "; set it back, or raise " + epochs_field + " above " +
                                   std::to_string(stop.epochs()) + " to train on");
  }
  PSTRAIN_RETURN_IF_ERROR(AppliedSet::Parse(stop.granted()).status().WithContext(run_directory));
  return evaluations;
}

Scores::Scores(const ChiefDependencies& chief)
    : chief_(chief), pauses_({.initial = seconds(1), .cap = seconds(30)}) {
  Keep(chief_.setup.evaluations);
}

void Scores::Keep(RunEvaluations evaluations) {
  const std::optional<EarlyStoppingRule>& rule = chief_.setup.job.early_stopping;
  stop_due_ = rule && !evaluations.has_early_stop() &&
              WaitedIn(evaluations, *rule).evaluations >= rule->patience;
  kept_ = std::make_shared<const RunEvaluations>(std::move(evaluations));
}

void Scores::WarnOf(const ScoredCheckpoint& scored) const {
  const ChiefJob& job = chief_.setup.job;
  const auto warn = [&scored](const ScoreRule& rule, const char* field) {
    if (rule.ValueOf(scored)) return;
    LogWarning("chief", "an evaluation has no finite value of the metric: it is not better",
               {{"checkpoint", scored.checkpoint()},
                {"metric", rule.metric},
                {"value", TextOf(scored, rule.metric)},
                {"field", field}});
  };
  if (job.early_stopping) warn(job.early_stopping->score, "spec.training.earlyStopping.metric");
  if (job.keep_best) warn(*job.keep_best, "spec.training.checkpoint.keepBest.metric");
}

void Scores::Evaluated(const CheckpointId& checkpoint,
                       const std::map<std::string, double>& metrics) {
  if (!chief_.setup.job.evaluation_digest) return;
  ScoredCheckpoint scored;
  scored.set_checkpoint(CheckpointName(checkpoint));
  scored.mutable_metrics()->insert(metrics.begin(), metrics.end());
  WarnOf(scored);
  waiting_.push_back(std::move(scored));
  NoteFirst();
}

void Scores::Watch() {
  NoteFirst();
  Decide();
}

void Scores::NoteFirst() {
  if (waiting_.empty() || !MayWrite()) return;
  writing_ = true;
  chief_.disk.Post("note an evaluation",
                   [this, kept = kept_, scored = waiting_.front()]() -> Disk::Then {
                     const Noted noted = Note(*kept, scored);
                     return [this, noted] { Written(noted); };
                   });
}

// The manifest says what was evaluated, whichever
// chief has taken it, and that it is there.
Scores::Noted Scores::Note(const RunEvaluations& kept, const ScoredCheckpoint& scored) const {
  const std::string& run_directory = chief_.setup.directory.path();
  Noted noted{.evaluations = kept};
  const std::optional<CheckpointId> id = ParseCheckpointName(scored.checkpoint());
  const auto manifest =
      ReadManifest(CheckpointDirectory(run_directory, id.value_or(CheckpointId())));
  noted.gone = manifest.status().code() == StatusCode::kNotFound ||
               manifest.status().code() == StatusCode::kDataLoss;
  noted.status = noted.gone ? OkStatus() : manifest.status();
  if (!manifest.ok()) return noted;
  ScoredCheckpoint whole = scored;
  whole.set_examples_committed(manifest->examples_committed());
  AddEvaluation(std::move(whole), chief_.setup.job.keep_best, noted.evaluations);
  noted.status = WriteEvaluations(run_directory, chief_.setup.directory.term(), noted.evaluations);
  return noted;
}

bool Scores::Took(const Status& status) {
  writing_ = false;
  if (status.ok()) {
    pauses_.Reset();
    again_.reset();
    return true;
  }
  superseded_ = superseded_ || status.code() == StatusCode::kAborted;
  const std::chrono::nanoseconds pause = pauses_.Next();
  again_ = chief_.clock.Now() + pause;
  LogWarning("chief", "what the evaluations have found is not written; trying again",
             {{"error", status}, {"in_seconds", InSeconds(pause)}});
  return false;
}

void Scores::Written(const Noted& noted) {
  if (!Took(noted.status)) return;
  const ScoredCheckpoint scored = std::move(waiting_.front());
  waiting_.pop_front();
  if (noted.gone) {
    LogWarning("chief",
               "a checkpoint that was evaluated is gone or damaged: its scores are left out",
               {{"checkpoint", scored.checkpoint()}});
    return NoteFirst();
  }
  if (noted.evaluations.best().checkpoint() == scored.checkpoint()) {
    LogInfo("chief", "the best checkpoint so far",
            {{"checkpoint", scored.checkpoint()},
             {"metric", noted.evaluations.best_metric()},
             {"value", TextOf(scored, noted.evaluations.best_metric())}});
  }
  Keep(noted.evaluations);
  NoteFirst();
}

// Nothing is granted from the first look at what was granted until the run ends with that. A run
// that has granted all ends by itself.
void Scores::Decide() {
  if (!GrantsWait() || !waiting_.empty() || !MayWrite()) return;
  if (!chief_.protocol.AllActive() || chief_.protocol.draining()) return;
  const AppliedSet granted = chief_.protocol.early_end().Granted();
  if (!chief_.protocol.early_end().LeavesSomething(granted)) {
    stop_due_ = false;
    return;
  }
  RunEvaluations evaluations = *kept_;
  *evaluations.mutable_early_stop() = DecisionOf(evaluations, chief_.setup.job, granted);
  writing_ = true;
  chief_.disk.Post("decide that the run ends early", [this, evaluations, granted]() -> Disk::Then {
    const FailPoints& points = chief_.context.fail_points;
    points.Pass(FailPoint::kChiefBeforeEarlyStop);
    const Status written =
        WriteEvaluations(chief_.setup.directory.path(), chief_.setup.directory.term(), evaluations);
    if (written.ok()) points.Pass(FailPoint::kChiefAfterEarlyStop);
    return [this, written, evaluations, granted] { Decided(written, evaluations, granted); };
  });
}

void Scores::Decided(const Status& status, const RunEvaluations& evaluations,
                     const AppliedSet& granted) {
  if (!Took(status)) return;
  chief_.protocol.early_end().Begin(granted);
  const EarlyStop& stop = evaluations.early_stop();
  LogInfo("chief", "EarlyStopped: the metric does not get better; nothing more is granted",
          {{"metric", stop.metric()},
           {"patience", stop.patience()},
           {"best", stop.has_best() ? TextOf(stop.best(), stop.metric()) : std::string("none")},
           {"best_checkpoint", stop.best().checkpoint()},
           {"examples", chief_.protocol.Progress().examples_expected}});
  Keep(evaluations);
}

// What is on disk counts until the next one is: a chief that comes after this one goes by it.
std::set<CheckpointId> Scores::Pinned() const {
  std::set<CheckpointId> pinned;
  const auto add = [&pinned](const std::string& name) {
    if (const auto id = ParseCheckpointName(name)) pinned.insert(*id);
  };
  if (kept_->has_best()) add(kept_->best().checkpoint());
  if (!chief_.setup.job.keep_best) return pinned;
  for (const ScoredCheckpoint& scored : waiting_) add(scored.checkpoint());
  return pinned;
}

}  // namespace pstrain
