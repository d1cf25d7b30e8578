#include "runtime/chief/protocol/commit_protocol.h"

#include <algorithm>
#include <utility>

namespace pstrain {

CommitProtocol::CommitProtocol(ProtocolOptions options)
    : options_(std::move(options)),
      ledger_(options_),
      shards_(options_.shards),
      checkpoints_(options_.checkpoints),
      had_checkpoints_(!options_.checkpoints.empty()) {
  view_.number = 0;
  view_.chief_term = options_.chief_term;
  Publish();
}

Result<Incarnation> CommitProtocol::RegisterPs(std::uint32_t index, PeerProcess process,
                                               std::string address, std::vector<ShardCopy> held,
                                               ProtocolTime now) {
  const std::string name = "ps " + std::to_string(index);
  if (index >= options_.ps_count) {
    return InvalidArgumentError(name + ": the job has " + std::to_string(options_.ps_count));
  }
  for (const ShardCopy& copy : held) {
    if (copy.shard >= options_.shards) {
      return InvalidArgumentError(name + " holds shard " + std::to_string(copy.shard) +
                                  " of a run with " + std::to_string(options_.shards));
    }
  }
  if (ps_succession_.Outdated(index, process)) {
    return FailedPreconditionError(name + " has been replaced by a newer process");
  }
  if (const auto it = ps_.find(index); it != ps_.end()) {
    if (it->second.process == process.id) return it->second.incarnation;
    if (it->second.leaving)
      return UnavailableError(name + " is leaving; its shards are being saved");
    ForgetPs(index);
  }
  ps_succession_.Take(index, process);
  Ps ps;
  ps.incarnation = (options_.chief_term << 32) | next_incarnation_++;
  ps.process = process.id;
  ps.address = std::move(address);
  ps.held = std::move(held);
  const Incarnation incarnation = ps.incarnation;
  ps_.insert_or_assign(index, std::move(ps));
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

bool CommitProtocol::PsKnown(std::uint32_t index, Incarnation incarnation) const {
  const auto it = ps_.find(index);
  return it != ps_.end() && it->second.incarnation == incarnation;
}

void CommitProtocol::PsLost(std::uint32_t index, Incarnation incarnation) {
  if (!PsKnown(index, incarnation)) return;
  ForgetPs(index);
  Publish();
}

void CommitProtocol::PsLeaving(std::uint32_t index, Incarnation incarnation) {
  if (!PsKnown(index, incarnation) || std::exchange(ps_.at(index).leaving, true)) return;
  PlanMoves();
  ReleaseEmptied();
  Publish();
}

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
    shard.phase = ShardPhase::kActive;
    shard.last_active = copy.term;
    ++active_;
    ledger_.SetShard(copy.shard, copy.applied);
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

bool CommitProtocol::WorkerSeen(std::uint32_t index, PeerProcess process,
                                const std::vector<WorkId>& in_flight) {
  if (worker_succession_.Outdated(index, process)) return false;
  worker_succession_.Take(index, process);
  if (const auto it = workers_.find(index); it != workers_.end() && it->second != process.id) {
    ledger_.ReturnAll(index);
  }
  workers_[index] = process.id;
  for (const WorkId work_id : in_flight) ledger_.Hold(index, work_id);
  return true;
}

void CommitProtocol::WorkerLost(std::uint32_t index, std::uint64_t process) {
  const auto it = workers_.find(index);
  if (it == workers_.end() || it->second != process) return;
  workers_.erase(it);
  ledger_.ReturnAll(index);
}

std::vector<GrantedWorkId> CommitProtocol::Grants(std::uint32_t worker, std::uint32_t want) {
  if (!AllActive() || draining_ || !workers_.contains(worker)) return {};
  std::size_t most = want;
  if (options_.grant_window > 0) {
    const std::size_t held = ledger_.held_by(worker);
    most = held >= options_.grant_window ? 0 : std::min(most, options_.grant_window - held);
  }
  return ledger_.Grant(worker, most);
}

void CommitProtocol::ReturnGrants(std::uint32_t worker, const std::vector<WorkId>& work_ids) {
  for (const WorkId work_id : work_ids) ledger_.Return(worker, work_id);
}

ReportResult CommitProtocol::Report(std::uint32_t worker, WorkId work_id,
                                    const std::vector<ShardInTerm>& shards) {
  ReportResult result;
  if (!ledger_.Valid(work_id)) return result;
  if (ledger_.Committed(work_id)) {
    result.outcome = ReportResult::Outcome::kDuplicate;
    return result;
  }
  std::vector<ShardId> have;
  for (const ShardInTerm& copy : shards) {
    if (copy.shard >= options_.shards) continue;
    const Shard& shard = shards_[copy.shard];
    const bool current = shard.phase == ShardPhase::kActive && shard.term == copy.term;
    (current ? have : result.stale).push_back(copy.shard);
  }
  const bool committed = ledger_.Report(worker, work_id, have);
  result.outcome = committed ? ReportResult::Outcome::kCommitted : ReportResult::Outcome::kOpen;
  return result;
}

void CommitProtocol::Tick(ProtocolTime now) {
  if (!joining_) return;
  if (ps_.size() == options_.ps_count || now - options_.started >= options_.rejoin_timeout) {
    EndJoining();
    Publish();
  }
}

CommitProgress CommitProtocol::Progress() const {
  CommitProgress progress;
  progress.examples_expected = ledger_.examples_expected();
  progress.examples_committed = ledger_.examples_committed();
  progress.examples_in_flight = ledger_.examples_in_flight();
  progress.work_ids_expected = ledger_.work_ids_expected();
  progress.work_ids_committed = ledger_.work_ids_committed();
  progress.work_ids_in_flight = ledger_.in_flight();
  progress.work_ids_reopened = ledger_.work_ids_reopened();
  return progress;
}

std::vector<ProtocolAction> CommitProtocol::TakeActions() { return std::exchange(actions_, {}); }

}  // namespace pstrain
