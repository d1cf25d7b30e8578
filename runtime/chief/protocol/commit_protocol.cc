#include "runtime/chief/protocol/commit_protocol.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/chief/protocol/input_source.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {
namespace {

// Rule 1: what there is to grant is a run's input, unless the chief has other work for it.
// Invariant: a run has one source for its whole life, so a work id names one thing.
std::shared_ptr<WorkSource> SourceOf(const ProtocolOptions& options) {
  if (options.source != nullptr) return options.source;
  return std::make_shared<InputSource>(options.input);
}

}  // namespace

// Rule 8. Invariant: every shard begins vacant. Who has which copy, a new chief learns from the ps
// alone.
CommitProtocol::CommitProtocol(ProtocolOptions options)
    : options_(std::move(options)),
      ledger_(options_.shards, SourceOf(options_)),
      shards_(options_.shards),
      homes_(options_.shard_to_ps),
      checkpoints_(options_.checkpoints),
      had_checkpoints_(!options_.checkpoints.empty()) {
  if (options_.early_end) early_end_.Begin(*options_.early_end);
  view_.number = 0;
  view_.chief_term = options_.chief_term;
  Publish();
}

// Rule 8: a ps names its copies and its attempt. Invariant: at most one process of an index is
// current, and a former attempt never displaces its successor. The incarnation carries the chief
// term, so what a ps says to one chief is never taken for a word to another.
Result<Incarnation> CommitProtocol::RegisterPs(std::uint32_t index, PeerProcess process,
                                               std::string address, std::vector<ShardCopy> copies,
                                               ProtocolTime now) {
  const std::string name = "ps " + std::to_string(index);
  // A surplus ps may have the newest copy of a shard: it gives it away (rule 9, Scale).
  const bool surplus = index >= options_.ps_count;
  if (surplus && copies.empty() && !(ps_.contains(index) && ps_.at(index).process == process.id)) {
    return InvalidArgumentError(name + ": the job has " + std::to_string(options_.ps_count));
  }
  for (const ShardCopy& copy : copies) {
    if (copy.shard >= options_.shards) {
      return InvalidArgumentError(name + " has shard " + std::to_string(copy.shard) +
                                  " of a run with " + std::to_string(options_.shards));
    }
    if (!copy.active) continue;
    if (Status status = CheckEpochSize(copy.shard, copy.applied); !status.ok()) {
      return status.WithContext(name);
    }
  }
  if (ps_succession_.Outdated(index, process)) {
    return FailedPreconditionError(name + " has been replaced by a newer process");
  }
  if (const auto it = ps_.find(index); it != ps_.end()) {
    if (it->second.process == process.id) return it->second.incarnation;
    // A leaving ps may have the only copy of what was applied since the last checkpoint.
    if (it->second.leaving)
      return UnavailableError(name + " is leaving; its shards are being saved");
    ForgetPs(index);
  }
  ps_succession_.Take(index, process);
  Ps ps;
  ps.incarnation = (options_.chief_term << 32) | next_incarnation_++;
  ps.process = process.id;
  ps.address = std::move(address);
  ps.copies = std::move(copies);
  const Incarnation incarnation = ps.incarnation;
  ps_.insert_or_assign(index, std::move(ps));
  SettleHomes();
  if (!joining_) {
    Adopt(index);
    FillVacant(index);
  }
  moves_blocked_ = false;
  PlanMoves();
  Tick(now);
  Publish();
  return incarnation;
}

// Rules 7 and 8. Asked first of every event about a ps. Invariant: a message to or from a former
// life of a ps is void, for the incarnation in it is not the one that is registered.
bool CommitProtocol::PsKnown(std::uint32_t index, Incarnation incarnation) const {
  const auto it = ps_.find(index);
  return it != ps_.end() && it->second.incarnation == incarnation;
}

// Rule 7. Invariant: the loss of a former life of the ps changes nothing; it would take the shards
// away from its successor.
void CommitProtocol::PsLost(std::uint32_t index, Incarnation incarnation) {
  if (!PsKnown(index, incarnation)) return;
  ForgetPs(index);
  Publish();
}

// Rule 9, Move. Invariant: a ps that leaves owns its shards until they are elsewhere or in a
// checkpoint, so that nothing that was applied is computed again because of a planned stop.
void CommitProtocol::PsLeaving(std::uint32_t index, Incarnation incarnation) {
  if (!PsKnown(index, incarnation) || std::exchange(ps_.at(index).leaving, true)) return;
  PlanMoves();
  ReleaseEmptied();
  Publish();
}

// Rules 7 to 9: an owner has its copy. Invariant: a shard becomes active only by an answer in the
// term that was assigned last; a late answer in an older term changes nothing. From here on reports
// in this term count, and what the copy lacks is open again.
void CommitProtocol::ShardsActivated(std::uint32_t index, Incarnation incarnation,
                                     const std::vector<ShardCopy>& copies) {
  if (!PsKnown(index, incarnation)) return;
  Actions drops;
  for (const ShardCopy& copy : copies) {
    if (copy.shard >= options_.shards || !copy.active) continue;
    Shard& shard = shards_[copy.shard];
    if (shard.phase != ShardPhase::kAssigned || shard.ps != index || shard.term != copy.term) {
      continue;
    }
    if (BeyondTheRun(copy)) return;
    shard.phase = ShardPhase::kActive;
    shard.last_active = copy.term;
    // Publish comes before anybody hears of it.
    shard.active_since = last_activation_ = view_.number + 1;
    ++active_;
    ledger_.SetShard(copy.shard, copy.applied);
    // The end of a move: only now the source may forget its copy.
    const std::optional<Origin> origin = std::exchange(shard.origin, std::nullopt);
    if (!origin || !PsKnown(origin->ps, origin->incarnation)) continue;
    drops.try_emplace(origin->ps, NewAction(origin->ps))
        .first->second.shards.push_back({copy.shard, origin->term, AssignSource::kDrop, {}, {}});
  }
  EmitAll(std::move(drops));
  ReleaseEmptied();
  PlanMoves();
  Publish();
}

// Rule 7: a damaged checkpoint is passed over, and the shards are restored from the one before.
// Rule 9, Move: a copy that was refused stays with its source under a newer term. Invariant: only
// an assignment that is still the last one of its shard is taken back.
void CommitProtocol::AssignFailed(std::uint32_t index, Incarnation incarnation,
                                  const AssignShardsAction& action, bool bad_checkpoint) {
  if (bad_checkpoint) CheckpointRemoved(action.checkpoint);
  if (!PsKnown(index, incarnation)) return;
  Actions returned;
  for (const ShardAssignment& assignment : action.shards) {
    if (assignment.shard >= options_.shards || assignment.source == AssignSource::kDrop) continue;
    const Shard& shard = shards_[assignment.shard];
    if (shard.phase == ShardPhase::kAssigned && shard.ps == index &&
        shard.term == assignment.term) {
      if (shard.origin) {
        ReturnHome(assignment.shard, &returned);
      } else {
        Vacate(assignment.shard);
      }
    }
  }
  EmitAll(std::move(returned));
  FillAllVacant();
  Publish();
}

// Rules 6 and 8. A worker that comes to a new chief names what the former one had granted: it is in
// flight again, and is not granted to others meanwhile. Invariant: what is in flight with an index
// is with its newest process.
bool CommitProtocol::WorkerSeen(std::uint32_t index, PeerProcess process,
                                const std::vector<WorkId>& in_flight) {
  if (worker_succession_.Outdated(index, process)) return false;
  worker_succession_.Take(index, process);
  if (const auto it = workers_.find(index); it != workers_.end() && it->second != process.id) {
    ledger_.ReturnAll(index);
  }
  workers_[index] = process.id;
  ledger_.SetRegistered(index, true);
  for (const WorkId work_id : in_flight) ledger_.AddInFlight(index, work_id);
  return true;
}

// Rule 6. Shards that have applied one of its work ids answer duplicate to the next worker.
// Invariant: what a lost worker had is committed, with another worker, or open.
void CommitProtocol::WorkerLost(std::uint32_t index, std::uint64_t process) {
  const auto it = workers_.find(index);
  if (it == workers_.end() || it->second != process) return;
  workers_.erase(it);
  ledger_.SetRegistered(index, false);
  ledger_.ReturnAll(index);
}

// Rule 1. Invariant: nothing is granted while a shard has no active owner, so that a worker can
// push what it was granted. Rule 11: nothing is granted while draining.
std::vector<GrantedWorkId> CommitProtocol::Grants(std::uint32_t worker, std::uint32_t want) {
  if (!MayGrant() || !workers_.contains(worker)) return {};
  std::size_t most = want;
  if (options_.grant_window > 0) {
    const std::size_t in_flight = ledger_.in_flight_of(worker);
    most =
        in_flight >= options_.grant_window ? 0 : std::min(most, options_.grant_window - in_flight);
  }
  return ledger_.Grant(worker, most);
}

// Rule 6. Invariant: nothing that a worker says or does not say keeps a work id from the others for
// ever. It stays with the worker too, whose report counts like any other.
void CommitProtocol::Overdue(std::uint32_t worker, WorkId work_id) {
  if (ledger_.Valid(work_id)) ledger_.Share(worker, work_id);
}

std::optional<ProtocolTime> CommitProtocol::DeadlineOf(WorkId work_id, ProtocolTime usual) const {
  if (IsReadOnlyAttempt(work_id)) return std::nullopt;
  return ledger_.Valid(work_id) ? ledger_.DeadlineOf(work_id, usual) : usual;
}

// Rule 1. The grant did not arrive, or the worker leaves. Invariant: no work id is kept for a
// worker that does not have it.
void CommitProtocol::ReturnGrants(std::uint32_t worker, const std::vector<WorkId>& work_ids) {
  for (const WorkId work_id : work_ids) ledger_.Return(worker, work_id);
}

// Rule 4. A shard has had its term since the membership that first named it active; so the number
// of the worker's membership tells which term the worker means. Invariant: a shard is taken only
// when that term is its current active one. Numbers of another chief name none.
ShardSet CommitProtocol::Current(const ShardsInMembership& shards) const {
  ShardSet current(options_.shards);
  if (shards.membership > view_.published_number() ||
      shards.membership >> 32 != options_.chief_term) {
    return current;
  }
  const std::uint64_t number = shards.membership - (options_.chief_term << 32);
  // The usual report: nothing has changed since.
  if (active_ == options_.shards && number >= last_activation_) return shards.shards;
  shards.shards.ForEach([&](ShardId s) {
    const Shard& shard = shards_[s];
    if (shard.phase == ShardPhase::kActive && shard.active_since <= number) current.Add(s);
  });
  return current;
}

// Rule 4. Nothing that a shard has to have first is granted before it was reported; so a shard that
// is early was restored since the grant, and what it lacks is open. Or somebody has reported what
// it never had: nobody would be granted that again, and everybody would be early for ever.
// Invariant: a shard is struck from a work id's list only when the report names the shard's
// current active term. A push under an older term went into a copy that may be gone; that shard is
// stale, and gets the push again. A report that names no shard is of an attempt that has come to
// nothing, so it commits nothing, whatever shards have of others.
ReportResult CommitProtocol::Report(std::uint32_t worker, WorkId work_id,
                                    const ShardsInMembership& has, const ShardSet& early) {
  ReportResult result;
  ledger_.Adopt(work_id);
  if (!ledger_.Valid(work_id) || has.membership > view_.published_number()) return result;
  if (ledger_.Committed(work_id)) {
    result.outcome = ReportResult::Outcome::kDuplicate;
    return result;
  }
  const ShardSet have = Current(has);
  if (have != has.shards) {
    has.shards.ForEach([&](ShardId s) {
      if (!have.Contains(s)) result.stale.push_back(s);
    });
  }
  result.outcome = ReportResult::Outcome::kOpen;
  if (has.shards.empty()) {
    ledger_.Return(worker, work_id);
  } else if (ledger_.Report(worker, work_id, have)) {
    result.outcome = ReportResult::Outcome::kCommitted;
    if (!options_.copies_may_be_lost) ledger_.Forget(ledger_.LeadingCommitted());
  }
  if (!early.empty() && ledger_.Waits(work_id) && ledger_.MayBegin(work_id))
    result.asked = AskAgain(Current({has.membership, early}));
  return result;
}

// Rule 4. Invariant: a shard that lacks what the chief takes for committed is asked what it has,
// whatever the work was that has found it out.
std::vector<ShardId> CommitProtocol::Early(WorkId after, const ShardsInMembership& early) {
  if (after == WorkId{} || early.shards.empty() || !ledger_.CommittedBelow(after)) return {};
  return AskAgain(Current(early));
}

// Rule 8: a new chief waits for the copies of all ps before it restores any shard from disk,
// because a copy is newer than every checkpoint; a ps that does not come ends the wait with the
// timeout. Invariant: no term is given out while joining.
void CommitProtocol::Tick(ProtocolTime now) {
  RetryMoves(now);
  if (!joining_) return;
  const auto members = std::ranges::count_if(
      ps_, [this](const auto& entry) { return entry.first < options_.ps_count; });
  if (members == options_.ps_count || now - options_.started >= options_.rejoin_timeout) {
    EndJoining();
    Publish();
  }
}

// Rule 4 as numbers, for the page and for barriers. Invariant: no rule reads them; they go back
// when a restored shard lacks what was committed (rule 7).
CommitProgress CommitProtocol::Progress() const {
  CommitProgress progress;
  progress.examples_expected = ledger_.examples_expected();
  progress.examples_committed = ledger_.examples_committed();
  progress.examples_in_flight = ledger_.examples_in_flight();
  progress.work_ids_expected = ledger_.work_ids_expected();
  progress.work_ids_committed = ledger_.work_ids_committed();
  progress.work_ids_in_flight = ledger_.in_flight();
  progress.work_ids_reopened = ledger_.work_ids_reopened();
  progress.log_bytes = ledger_.KeptBelow(ledger_.work_ids_expected());
  return progress;
}

// Rules 7 to 9 and 12: what was decided leaves here, in the order of the decisions. Invariant: each
// action is handed out once. An assignment that cannot be carried out comes back as an event
// (AssignFailed, PsLost), and what is decided then has a new term.
std::vector<ProtocolAction> CommitProtocol::TakeActions() { return std::exchange(actions_, {}); }

}  // namespace pstrain
