#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/status.h"
#include "runtime/chief/protocol/checkpoint_progress.h"
#include "runtime/chief/protocol/ends/early_end.h"
#include "runtime/chief/protocol/ownership.h"
#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/chief/protocol/succession.h"
#include "runtime/chief/protocol/work_ledger.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// The chief's side of the commit protocol (ARCHITECTURE.md, The commit protocol): who owns which
/// shard in which term, which work ids are granted, committed, re-opened, and when a checkpoint may
/// be taken. Pure: no clock, no I/O, no threads. Owned by the chief process; one thread at a time
/// (the chief's lock guards it). Events go in as calls; after each call the chief takes the actions
/// out and looks whether membership().number has grown. "Rule N" in comments is rule N of that
/// section.
///
/// Guarantees, whatever is lost, late, repeated or out of order:
/// - A work id counts as committed only while every shard's current copy has applied it, as far as
///   the workers' reports are true. The end of the run does not rest on them: a final checkpoint
///   counts only when every shard's own applied set is complete.
/// - No term is given twice, and a later assignment of a shard has a higher term. A shard has one
///   owner at most that answers for it: the one with the highest term.
/// - Nothing is granted, and no checkpoint is started or counted, unless every shard is active.
///
/// A shard: vacant -> assigned (an action is out) -> active -> vacant (owner lost), or -> assigned
/// to another ps that copies it from the owner (a move), who keeps its copy until the other one is
/// active and gets the shard back when that fails. Each assignment has a new term, also the one
/// that keeps a copy. Shards move away from a ps that is leaving or surplus (its index is not below
/// the number of ps), and to their homes when these are there. A move that has failed is tried
/// again after 1, 2, 4 .. 60 s, or sooner when members change. Nothing is assigned while the chief
/// is joining: until all ps_count ps have registered or the rejoin timeout has passed.
class CommitProtocol {
 public:
  /// REQUIRES: options.shard_to_ps.size() == options.shards, entries < ps_count.
  explicit CommitProtocol(ProtocolOptions options);

  // ---- ps ----
  /// A ps announces itself and the copies of shards that it has (rule 8). The same process again
  /// gets its incarnation again while it is current; another process of that index replaces the
  /// former, unless it is of an earlier attempt. FAILED_PRECONDITION: a newer process has replaced
  /// this one (it should exit 86). UNAVAILABLE: the former process is leaving and its shards are
  /// not safe yet; try again. INVALID_ARGUMENT: a shard that the run does not have, an applied set
  /// of epochs of another size, or a surplus ps that brings none.
  Result<Incarnation> RegisterPs(std::uint32_t index, PeerProcess process, std::string address,
                                 std::vector<ShardCopy> copies, ProtocolTime now);
  /// True while this is the current incarnation of that index.
  bool PsKnown(std::uint32_t index, Incarnation incarnation) const;
  /// The ps is gone (rule 7); ignored for an incarnation that is not current. Its shards wait for
  /// the next process of that index.
  void PsLost(std::uint32_t index, Incarnation incarnation);
  /// The ps was told to stop and still serves: its shards move to the others (rule 9, Move), or,
  /// when that is not possible, CheckpointWanted() until a checkpoint is in place. Then it is
  /// released and counts as lost.
  void PsLeaving(std::uint32_t index, Incarnation incarnation);
  /// The job wants another number of ps (rule 9, Scale): shards move to their new homes, once these
  /// are there. A surplus ps gives its shards away, and serves until it leaves or is lost.
  /// REQUIRES: ps_count > 0; shard_to_ps as in ProtocolOptions.
  void SetPsCount(std::uint32_t ps_count, std::vector<std::uint32_t> shard_to_ps);
  std::uint32_t ps_count() const { return options_.ps_count; }
  /// Answer to an AssignShardsAction. Copies of another shard term than assigned are ignored. A
  /// copy that has applied more epochs than the job has, or epochs of another size, makes the run
  /// fail (INVALID_ARGUMENT).
  void ShardsActivated(std::uint32_t index, Incarnation incarnation,
                       const std::vector<ShardCopy>& copies);
  /// The assignment failed though the ps lives. `bad_checkpoint`: the checkpoint named in the
  /// action could not be read (checksum, missing checkpoint shard); the shards are restored from
  /// the one before. Otherwise the same is assigned again under new terms; shards that were to move
  /// go back to where they are.
  void AssignFailed(std::uint32_t index, Incarnation incarnation, const AssignShardsAction& action,
                    bool bad_checkpoint);

  // ---- workers ----
  /// A worker announces itself with the work ids that it has not reported. Another process of that
  /// index replaces the former, whose work ids are granted again, unless it is of an earlier
  /// attempt. False: a newer process has replaced this one.
  bool WorkerSeen(std::uint32_t index, PeerProcess process, const std::vector<WorkId>& in_flight);
  /// Its work ids are granted again (rule 6); ignored for a process that is not the current one.
  void WorkerLost(std::uint32_t index, std::uint64_t process);
  /// Rule 1. Up to `want` work ids; none for an unknown worker, while draining, while joining or
  /// while any shard has no active owner.
  std::vector<GrantedWorkId> Grants(std::uint32_t worker, std::uint32_t want);
  /// Work ids that Grants may have for who has nothing in flight, as far as is known.
  std::uint64_t Grantable() { return MayGrant() ? ledger_.open() : 0; }
  /// It has some that no other worker may have: Grantable does not count those.
  bool GrantableTo(std::uint32_t worker) { return MayGrant() && ledger_.OpenFor(worker); }
  /// The worker has had the work id beyond its deadline, and still speaks: another one gets it too,
  /// and the next one when that one is lost, gives it back or has it for too long too. Once for
  /// each grant; without effect for one that is committed or not with it.
  void Overdue(std::uint32_t worker, WorkId work_id);
  std::optional<ProtocolTime> DeadlineOf(WorkId work_id, ProtocolTime usual) const;  // WorkSource's
  /// Under which chief term the work id is granted and reported. A program's work is void once
  /// there is another chief; 0: a batch of the input, which later chiefs adopt.
  std::uint64_t GrantTerm(WorkId work_id) const {
    return ledger_.OfProgram(work_id) ? options_.chief_term : 0;
  }
  /// A worker or a shard has the work id, as far as is known; every shard's current copy has it, or
  /// all below.
  bool Begun(WorkId id) const { return ledger_.Valid(id) && ledger_.Begun(id); }
  bool Committed(WorkId id) const { return ledger_.Valid(id) && ledger_.Committed(id); }
  bool CommittedBelow(WorkId after) { return ledger_.CommittedBelow(after); }
  /// The worker gives work ids back unreported.
  void ReturnGrants(std::uint32_t worker, const std::vector<WorkId>& work_ids);
  /// Rule 4. Counts whoever reports: the terms prove what was applied. `early`: shards, in the same
  /// terms, that lack a work id below GrantedWorkId::after; it is open again, whatever others have
  /// taken. REQUIRES: sets of options.shards; `early` may be of none.
  ReportResult Report(std::uint32_t worker, WorkId work_id, const ShardsInMembership& has,
                      const ShardSet& early = {});
  /// Shards were early for work without an id; those that are asked, as by Report.
  std::vector<ShardId> Early(WorkId after, const ShardsInMembership& early);

  // ---- checkpoints ----
  /// A ps is leaving, its shards cannot move and no checkpoint has been placed since: take one now.
  bool CheckpointWanted() const;
  /// Full checkpoints are wanted, two of them: what is kept of work that is done takes too much
  /// room (WorkSource::Forget).
  bool LogFull();
  /// Rule 5. Starts a checkpoint; none while a shard has no active owner or another checkpoint is
  /// under way. It builds on the newest one that this chief has placed, unless it is the final one,
  /// full_every says otherwise, or what was written since the last full checkpoint is more than
  /// half of that one. `whole`: it is to have every work id that there is now, and builds on
  /// nothing. REQUIRES then: AllCommitted().
  std::optional<CheckpointPlan> StartCheckpoint(bool whole = false);
  /// Call right before the manifest is renamed, with every checkpoint shard. ABORTED: a shard term
  /// has changed since StartCheckpoint, a checkpoint shard is missing, one builds on a checkpoint
  /// shard of another shard term, or a final or whole one lacks work ids: they are open again for
  /// the shards that the message names. The checkpoint is abandoned then. DATA_LOSS, and a
  /// FailAction: shards lack work ids again and again, or have other examples than the input has.
  Status FinishCheckpoint(const std::vector<WrittenCheckpointShard>& checkpoint_shards);
  /// The manifest is in place.
  void CheckpointPlaced(std::string checkpoint);
  /// The checkpoint was given up (a ps did not answer, the disk is full).
  void CheckpointFailed();
  /// Retention has deleted a checkpoint (rule 10), or it was found unreadable (rule 7).
  void CheckpointRemoved(const std::string& checkpoint);
  const std::vector<std::string>& checkpoints() const { return checkpoints_; }  // newest first

  // ---- the run ----
  /// Lets time pass: ends joining when the rejoin timeout is over, tries again what could not move.
  void Tick(ProtocolTime now);
  void Drain() { draining_ = true; }  // rule 11: no more grants from now on
  bool draining() const { return draining_; }
  bool Drained() const { return draining_ && ledger_.in_flight() == 0; }  // none is with a worker
  bool joining() const { return joining_; }
  bool AllActive() const { return !joining_ && active_ == options_.shards; }
  /// Rule 12: every shard is active and has every work id. Complete: there will be no more either.
  bool AllCommitted() const { return AllActive() && ledger_.AllCommitted(); }
  bool Complete() const { return AllActive() && ledger_.Done(); }
  CommitProgress Progress() const;
  std::uint32_t epochs() const { return ledger_.chunks(); }  // of all work ids; it may grow
  EarlyEnd& early_end() { return early_end_; }
  const MembershipView& membership() const { return view_; }
  std::vector<ProtocolAction> TakeActions();  // to be done, in order; each is handed out once

 private:
  using Origin = ShardOwnership::Origin;
  using Shard = ShardOwnership;
  using Ps = RegisteredPs;

  bool MayGrant() const { return AllActive() && !draining_; }
  void EndJoining();
  /// Keeps the copies of `index` that are the newest, drops the others.
  void Adopt(std::uint32_t index);
  /// Assigns vacant shards that belong to `index`.
  void FillVacant(std::uint32_t index);
  void FillAllVacant();
  bool ReturnsForLostShard(ShardId shard);
  void Assign(ShardId shard, AssignSource source, AssignShardsAction* action);
  AssignShardsAction NewAction(std::uint32_t index) const;
  void Emit(AssignShardsAction action);
  void Vacate(ShardId shard);
  /// Those that are active in the very term that the membership names.
  ShardSet Current(const ShardsInMembership& shards) const;
  /// Their owners say again what they have, and keep them. REQUIRES: they are active.
  std::vector<ShardId> AskAgain(const ShardSet& shards);
  void ForgetPs(std::uint32_t index);

  // commit_protocol_moves.cc
  using Actions = std::map<std::uint32_t, AssignShardsAction>;
  bool Stays(std::uint32_t index) const;
  std::uint32_t DesiredOwner(ShardId shard) const;
  void SettleHomes();
  void PlanMoves();
  void RetryMoves(ProtocolTime now);
  void Move(ShardId shard, std::uint32_t to, Actions* actions);
  /// The move is given up; the former owner keeps the shard if it is still there.
  void ReturnHome(ShardId shard, Actions* actions);
  void EmitAll(Actions actions);
  void Release(std::uint32_t index);
  /// Releases leaving ps that own no shard and are the source of no move.
  void ReleaseEmptied();
  void Publish();
  bool ChainMayGrow() const;
  Status CheckCheckpointShards(const std::vector<WrittenCheckpointShard>& checkpoint_shards) const;

  // ends/commit_protocol_final.cc
  /// INVALID_ARGUMENT: the set is of epochs of another size than this run's.
  Status CheckEpochSize(ShardId shard, const AppliedSet& applied) const;
  /// The copy has applied batches that the job does not have (any more): the run fails.
  bool BeyondTheRun(const ShardCopy& copy);
  /// Rule 12: every shard has all that a final checkpoint needs, by what it says itself. ABORTED:
  /// what was lacking is open again. DATA_LOSS: the run cannot be completed.
  Status ProveComplete(const std::vector<WrittenCheckpointShard>& checkpoint_shards);
  void FailRun(Status status);

  ProtocolOptions options_;
  WorkLedger ledger_;
  EarlyEnd early_end_{ledger_};
  std::vector<Shard> shards_;
  /// The ps that each shard belongs on: options_.shard_to_ps, but for ps that have not come yet.
  std::vector<std::uint32_t> homes_;
  std::map<std::uint32_t, Ps> ps_;
  Succession ps_succession_;
  std::map<std::uint32_t, std::uint64_t> workers_;
  Succession worker_succession_;
  std::vector<std::string> checkpoints_;
  /// The run has got beyond its initial values: without a readable checkpoint it cannot continue.
  bool had_checkpoints_ = false;
  bool failed_ = false;
  std::optional<PendingCheckpoint> checkpoint_;
  std::uint32_t incomplete_finals_ = 0;  // final checkpoints, or whole ones, that lacked work ids
  CheckpointIncrements chain_;
  std::uint32_t closed_epochs_ = 0;    // those below are whole in a checkpoint in place
  std::uint32_t active_ = 0;           // shards that are kActive
  std::uint64_t last_activation_ = 0;  // the highest ShardOwnership::active_since
  std::uint64_t next_term_ = 1;
  std::uint64_t next_incarnation_ = 1;
  /// A move has failed. The next change of the members makes moves possible again, or the end of a
  /// pause that doubles while moves fail in a row.
  bool moves_blocked_ = false;
  std::optional<ProtocolTime> moves_again_;
  Backoff move_pauses_{{.initial = std::chrono::seconds(1), .cap = std::chrono::seconds(60)}};
  bool joining_ = true;
  bool draining_ = false;
  MembershipView view_;
  std::vector<ProtocolAction> actions_;
};

}  // namespace pstrain
