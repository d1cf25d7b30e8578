#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/coordinator/core_types.h"
#include "runtime/coordinator/grant_book.h"
#include "runtime/coordinator/succession.h"
#include "runtime/ps/ids.h"

namespace pstrain {

/// The chief's side of the commit protocol (ARCHITECTURE.md, The commit protocol): who owns which
/// shard in which term, which tokens are granted, committed, re-opened, and when a cut may be
/// taken. Pure: no clock, no I/O, no threads. Owned by the chief process; one thread at a time (the
/// shell locks around it). Events go in as calls; after each call the shell takes the actions out
/// and looks whether membership().number has grown.
///
/// A shard: vacant -> assigned (an action is out) -> active -> vacant (owner lost), or -> assigned
/// to another ps that copies it from the owner (a move), who keeps its copy until the other one is
/// active and gets the shard back when that fails. Each assignment has a new term, also the one
/// that keeps a copy. Shards move away from a ps that is leaving, and to the ps of
/// CoreOptions::shard_to_ps when it is there. Nothing is assigned while the core is joining:
/// until all ps_count ps have registered or the rejoin timeout has passed.
class Core {
 public:
  /// REQUIRES: options.shard_to_ps.size() == options.shards, entries < ps_count.
  explicit Core(CoreOptions options);

  // ---- ps ----

  /// A ps announces itself and what it holds. The same process again gets its incarnation again
  /// while it is current; another process of that index replaces the former, unless it is of an
  /// earlier attempt. FAILED_PRECONDITION: a newer process has replaced this one (it should exit
  /// 85). UNAVAILABLE: the former process is leaving and its shards are not safe yet; try again.
  /// INVALID_ARGUMENT: index not below ps_count, or a shard that the run does not have.
  Result<Incarnation> RegisterPs(std::uint32_t index, PeerProcess process, std::string address,
                                 std::vector<HeldCopy> held, CoreTime now);
  /// True while this is the current incarnation of that index.
  bool PsKnown(std::uint32_t index, Incarnation incarnation) const;
  /// The ps is gone; ignored for an incarnation that is not current. Its shards wait for the next
  /// process of that index.
  void PsLost(std::uint32_t index, Incarnation incarnation);
  /// The ps was told to stop and still serves: its shards move to the others, or, when that is not
  /// possible, CutWanted() until a cut is in place. Then it is released and counts as lost.
  void PsLeaving(std::uint32_t index, Incarnation incarnation);
  /// Answer to an AssignShardsAction. Copies of another term than assigned are ignored.
  void ShardsActivated(std::uint32_t index, Incarnation incarnation,
                       const std::vector<HeldCopy>& copies);
  /// The assignment failed though the ps lives. `bad_cut`: the cut named in the action could not be
  /// read (checksum, missing piece); the shards are restored from the one before. Otherwise the
  /// same is assigned again under new terms; shards that were to move go back to where they are.
  void AssignFailed(std::uint32_t index, Incarnation incarnation, const AssignShardsAction& action,
                    bool bad_cut);

  // ---- workers ----

  /// A worker announces itself with the tokens that it holds unreported. Another process of that
  /// index replaces the former, whose tokens are granted again, unless it is of an earlier attempt.
  /// False: a newer process has replaced this one.
  bool WorkerSeen(std::uint32_t index, PeerProcess process, const std::vector<Token>& holding);
  /// Its tokens are granted again; ignored for a process that is not the current one.
  void WorkerLost(std::uint32_t index, std::uint64_t process);
  /// Up to `want` tokens; none for an unknown worker, while draining, while joining or while any
  /// shard has no active owner.
  std::vector<GrantedToken> Grants(std::uint32_t worker, std::uint32_t want);
  /// The worker gives tokens back unreported.
  void ReturnGrants(std::uint32_t worker, const std::vector<Token>& tokens);
  /// Counts whoever reports: the terms prove what was applied.
  ReportResult Report(std::uint32_t worker, Token token, const std::vector<ReportedCopy>& shards);

  // ---- cuts ----

  /// A ps is leaving, its shards cannot move and no cut has been placed since: take one now.
  bool CutWanted() const;
  /// Starts a cut; none while a shard has no active owner or another cut is under way. It builds on
  /// the newest one that this core has placed, unless it is the final one, full_every says
  /// otherwise, or what was written since the last whole cut is more than half of that one.
  std::optional<CutPlan> StartCut();
  /// Call right before the manifest is renamed, with every piece. ABORTED: a term has changed since
  /// StartCut, a piece is missing, or one builds on a piece of another term; the cut is abandoned
  /// then.
  Status FinishCut(const std::vector<WrittenPiece>& pieces);
  /// The manifest is in place.
  void CutPlaced(std::string cut);
  /// The cut was given up (a ps did not answer, the disk is full).
  void CutFailed();
  /// Retention has deleted a cut, or it was found unreadable.
  void CutRemoved(const std::string& cut);
  /// Newest first.
  const std::vector<std::string>& cuts() const { return cuts_; }

  // ---- the run ----

  /// Lets time pass: ends joining when the rejoin timeout is over.
  void Tick(CoreTime now);
  /// No more grants from now on.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }
  /// Draining, and no token is with a worker.
  bool Drained() const { return draining_ && book_.in_flight() == 0; }
  bool joining() const { return joining_; }
  bool AllActive() const { return !joining_ && active_ == options_.shards; }
  /// Every shard is active and has every batch of every epoch.
  bool AllCommitted() const { return AllActive() && book_.AllCommitted(); }
  CoreProgress Progress() const;
  const MembershipView& membership() const { return view_; }
  /// What the shell has to do, in order; each is handed out once.
  std::vector<CoreAction> TakeActions();

 private:
  enum class ShardPhase : std::uint8_t { kVacant, kAssigned, kActive };
  /// The copy that a shard in kAssigned is moved from.
  struct Origin {
    std::uint32_t ps = 0;
    Incarnation incarnation = 0;
    Term term;
  };
  struct Shard {
    ShardPhase phase = ShardPhase::kVacant;
    std::uint32_t ps = 0;
    Term term;
    /// Highest term under which a copy was known to be active.
    Term last_active;
    std::optional<Origin> origin;
  };
  struct Ps {
    Incarnation incarnation = 0;
    std::uint64_t process = 0;
    std::string address;
    bool leaving = false;
    /// What it said at registration, until joining ends.
    std::vector<HeldCopy> held;
  };
  struct Cut {
    std::vector<Term> terms;
    std::uint32_t complete_epochs = 0;
    std::set<Incarnation> leaving;
    std::string base;
    bool incremental = false;
    std::uint64_t bytes = 0;
  };
  /// The last whole cut that this core has placed, and those that build on it.
  struct Chain {
    std::string newest;
    /// Of the newest.
    std::vector<Term> terms;
    std::uint32_t increments = 0;
    std::uint64_t whole_bytes = 0;
    std::uint64_t increment_bytes = 0;
  };

  void EndJoining();
  /// Keeps the copies of `index` that are the newest, drops the others.
  void Adopt(std::uint32_t index);
  /// Assigns vacant shards that belong to `index`.
  void FillVacant(std::uint32_t index);
  void FillAllVacant();
  void Assign(ShardId shard, AssignSource source, AssignShardsAction* action);
  AssignShardsAction NewAction(std::uint32_t index) const;
  void Emit(AssignShardsAction action);
  void Vacate(ShardId shard);
  void ForgetPs(std::uint32_t index);

  // core_moves.cc
  using Actions = std::map<std::uint32_t, AssignShardsAction>;
  bool Stays(std::uint32_t index) const;
  std::uint32_t DesiredOwner(ShardId shard) const;
  /// Starts all moves that are due.
  void PlanMoves();
  void Move(ShardId shard, std::uint32_t to, Actions* actions);
  /// The move is given up; the former owner keeps the shard if it is still there.
  void ReturnHome(ShardId shard, Actions* actions);
  void EmitAll(Actions actions);
  void Release(std::uint32_t index);
  /// Releases leaving ps that hold nothing any more.
  void ReleaseEmptied();
  void Publish();
  bool ChainMayGrow() const;
  Status CheckPieces(const std::vector<WrittenPiece>& pieces) const;

  CoreOptions options_;
  GrantBook book_;
  std::vector<Shard> shards_;
  std::map<std::uint32_t, Ps> ps_;
  Succession ps_succession_;
  std::map<std::uint32_t, std::uint64_t> workers_;
  Succession worker_succession_;
  std::vector<std::string> cuts_;
  bool had_cuts_ = false;
  bool failed_ = false;
  std::optional<Cut> cut_;
  Chain chain_;
  std::uint32_t closed_epochs_ = 0;
  std::uint32_t active_ = 0;
  std::uint64_t next_term_ = 1;
  std::uint64_t next_incarnation_ = 1;
  /// A move has failed; the next change of the members or of the cuts makes moves possible again.
  bool moves_blocked_ = false;
  bool joining_ = true;
  bool draining_ = false;
  MembershipView view_;
  std::vector<CoreAction> actions_;
};

}  // namespace pstrain
