#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/disk/scores.h"
#include "runtime/chief/peers/attempts.h"
#include "runtime/chief/protocol/succession.h"
#include "runtime/chief/run_numbers.h"

namespace pstrain {

/// What the chief knows of the evaluator: which checkpoint it reads (pinned: retention keeps it),
/// what it has found, and the restored loss of a run that was stopped and continues.
///
///   the run            | restored loss                | grants
///   was never stopped  | none                         | free
///   was stopped        | until its first checkpoint   | wait, evaluation.deadlineSeconds at
///                      | is evaluated: unknown        | most from when all shards have an owner
///   somebody shows it  | known, file `announce` there | wait, 30 s at most
///   continues          | known                        | free
///
/// Touches the run's directory, after its start through Disk. The chief's lock guards it: one
/// thread at a time.
class EvaluatorPeer {
 public:
  /// `newest`: the checkpoint that the run continues from.
  EvaluatorPeer(const ChiefDependencies& chief, std::optional<CheckpointId> newest);

  /// Attempts::Check, before Poll. `from`: the peer's address, for the log.
  Status CheckAttempt(const PollEvaluatorRequest& request, std::string_view from) const;
  /// An evaluation of a checkpoint newer than the newest one counts as not made, and of a program
  /// one that another chief has asked for: that may be of an abandoned history. One without metrics
  /// leaves those of the one before. A process that a
  /// newer one has replaced is told so (REPLACED), and a poll that is not above the last one of its
  /// process was late or repeated: neither changes anything, least of all what is pinned.
  PollEvaluatorReply Poll(const PollEvaluatorRequest& request, const RunPhase& phase,
                          std::string_view from = {});

  /// Takes the evaluation of the restored state as the restored loss, once; where it has no
  /// eval_loss, the run continues without. `placed`: a checkpoint of this chief is in place, so
  /// what was evaluated is the state after the restore.
  void CheckRestored(std::optional<CheckpointId> newest, bool placed);
  /// Nothing may be granted: the restored loss is not known, somebody has yet to show it, or it is
  /// being decided whether the run ends early.
  bool GrantsWait() const {
    return stopped_loss_.has_value() || announcing_ || scores_.GrantsWait();
  }
  /// Another chief has taken the run.
  bool superseded() const { return scores_.superseded(); }
  Scores& scores() { return scores_; }
  const Scores& scores() const { return scores_; }
  /// How long the evaluation of the restored state has been waited for; zero: it is not, or not all
  /// shards have had an owner yet.
  std::chrono::nanoseconds WaitedForRestored() const {
    return stopped_loss_ && awaited_since_ ? chief_.Since(*awaited_since_) : ProtocolTime(0);
  }
  /// The restored state is still to be evaluated: it needs a checkpoint.
  bool RestoredStateWanted() const { return stopped_loss_.has_value(); }

  /// The newest checkpoint has been evaluated and its scores are on disk, or nobody does that.
  bool Done(std::optional<CheckpointId> newest) const;
  /// The evaluator was not heard for longer than that, since the chief has started.
  bool SilentFor(std::chrono::nanoseconds limit) const { return chief_.Since(seen_) > limit; }
  /// The chief was paused for so long: nothing could be heard meanwhile, and no deadline counts
  /// it.
  void ForgiveGap(std::chrono::nanoseconds gap);
  /// Logs that the run ends without the evaluation of its final checkpoint.
  void SayFinalGivenUp() const;
  /// It knows that the run ends, or there is none.
  bool ToldEnd() const { return told_end_ || !chief_.has_evaluator(); }

  /// What the evaluator reads now, for retention.
  const std::optional<CheckpointId>& pinned() const { return pinned_; }
  /// Old checkpoints may go: it is known which one the evaluator reads. A new chief deletes nothing
  /// before the evaluator, which speaks every second also while it reads, has said so, or was not
  /// heard for RoleContext::peer_timeout. One that follows another chief also waits for 10 s: an
  /// attempt that is about to be replaced may find it before its successor does.
  bool PinKnown() const;

  /// Of the last evaluation that had some; built-in training's as
  /// runtime/evaluator/metric_report.h names them.
  const std::map<std::string, double>& metrics() const { return metrics_; }
  std::optional<double> restored_loss() const { return restored_loss_; }
  /// Puts what it has found into `numbers`.
  void Report(RunNumbers& numbers) const {
    numbers.restored_loss = restored_loss_;
    numbers.metrics = metrics_;
    numbers.evaluations = scores_.evaluations();
  }

 private:
  void GiveRestoredUp();
  /// The run continues without the restored loss.
  void ContinueWithoutRestored();
  void CheckAnnouncement();
  void WriteRestored(double loss);

  /// False: the reply is made.
  bool Admit(const PollEvaluatorRequest& request, PollEvaluatorReply& reply);
  void TakeEvaluation(const PollEvaluatorRequest& request, std::optional<CheckpointId> newest,
                      std::string_view from);

  const ChiefDependencies chief_;
  Attempts attempts_;
  Succession succession_;
  /// Of the process that was heard last.
  std::optional<PeerProcess> process_;
  std::uint64_t newest_poll_ = 0;
  std::optional<CheckpointId> evaluated_;
  /// What this chief has told it last to evaluate.
  std::optional<CheckpointId> named_;
  /// The checkpoint and the reason that the log has: one that cannot be read is tried again.
  std::pair<std::string, std::string> unreadable_;
  std::map<std::string, double> metrics_;
  Scores scores_;
  std::optional<CheckpointId> pinned_;
  /// The evaluator has said to this chief what it reads, be it nothing.
  bool pin_told_ = false;
  /// When this chief, which follows another one, began; nothing: there was none before it.
  std::optional<ProtocolTime> followed_since_;
  ProtocolTime seen_;
  bool told_end_ = false;
  /// With which the run was stopped; nothing once the restored loss is known.
  std::optional<double> stopped_loss_;
  /// Since when the evaluator could have been on its way to it.
  std::optional<ProtocolTime> awaited_since_;
  std::optional<double> restored_loss_;
  /// Somebody wants to show the restored loss before anything is granted.
  bool announcing_ = false;
  ProtocolTime announce_since_;
  /// The disk is asked whether the announcement is still awaited, or writes the restored loss.
  bool with_disk_ = false;
};

}  // namespace pstrain
