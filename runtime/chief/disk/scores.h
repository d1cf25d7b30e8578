#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/backoff.h"
#include "base/status.h"
#include "proto/contract/run/evaluations.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief_dependencies.h"

namespace pstrain {

/// What the evaluations of the run have found, made durable (runtime/checkpoint/evaluations.h)
/// before anything follows from it: which checkpoint is the best, which stays, and whether the run
/// ends early (EarlyEnd).
///
///   the metric of earlyStopping      | grants
///   gets better, or is not waited for| free
///   has not for `patience`           | wait, until the decision is on disk: what was granted is in
///                                    | it, and stays so for every later chief
///   is decided                       | only what shards lack of that
///
/// A chief that is lost before the decision is durable leaves the history, by which the next one
/// decides before it grants anything. A disk that does not take it is tried again after 1, 2, 4 ..
/// 30 s, for as long as it takes. Touches the run's directory through Disk. The chief's lock guards
/// it: one thread at a time.
class Scores {
 public:
  explicit Scores(const ChiefDependencies& chief);

  /// An evaluation has come in. Of a program none counts: its metrics are its own.
  void Evaluated(const CheckpointId& checkpoint, const std::map<std::string, double>& metrics);
  /// Writes what waits, and decides. Often; not while the run is released.
  void Watch();

  /// Nothing may be granted: it is to be decided, or written, with what the run ends.
  bool GrantsWait() const { return stop_due_ && !chief_.protocol.early_end().begun(); }
  /// Every evaluation that came in is on disk.
  bool Settled() const { return waiting_.empty(); }
  /// The best one, on disk and here, and those that may become it.
  std::set<CheckpointId> Pinned() const;
  /// Another chief has taken the run.
  bool superseded() const { return superseded_; }
  /// As it is on disk. Never null; does not change.
  std::shared_ptr<const RunEvaluations> evaluations() const { return kept_; }

 private:
  struct Noted {
    Status status = {};
    /// The checkpoint is not there any more.
    bool gone = false;
    RunEvaluations evaluations;
  };

  bool MayWrite() const {
    return !writing_ && !superseded_ && (!again_ || chief_.clock.Now() >= *again_);
  }
  void NoteFirst();
  /// The work of the disk.
  Noted Note(const RunEvaluations& kept, const ScoredCheckpoint& scored) const;
  void Written(const Noted& noted);
  void Decide();
  void Decided(const Status& status, const RunEvaluations& evaluations, const AppliedSet& granted);
  /// False: it is tried again, or the run is another chief's.
  bool Took(const Status& status);
  void Keep(RunEvaluations evaluations);
  void WarnOf(const ScoredCheckpoint& scored) const;

  const ChiefDependencies chief_;
  std::shared_ptr<const RunEvaluations> kept_;
  /// Not on disk yet, oldest first.
  std::deque<ScoredCheckpoint> waiting_;
  bool writing_ = false;
  bool superseded_ = false;
  /// earlyStopping has waited long enough, and there is more to grant.
  bool stop_due_ = false;
  Backoff pauses_;
  std::optional<ProtocolTime> again_;
};

/// The evaluations of the run as this chief goes on with them: what is there, without the scores of
/// another evaluation than the job's, and with a decision that holds. A job with more epochs than
/// the run had when it was stopped early trains on. FAILED_PRECONDITION names the field of
/// earlyStopping that was changed since, without that. Errors as ReadEvaluations. Pure but for the
/// file; any thread.
Result<RunEvaluations> OpenEvaluations(const std::string& run_directory, const ChiefJob& job,
                                       const std::string& epochs_field);

}  // namespace pstrain
