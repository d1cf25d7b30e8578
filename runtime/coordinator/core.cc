#include "runtime/coordinator/core.h"

#include <algorithm>
#include <utility>

namespace pstrain {

Core::Core(CoreOptions options)
    : options_(std::move(options)),
      book_(options_),
      shards_(options_.shards),
      cuts_(options_.cuts),
      had_cuts_(!options_.cuts.empty()) {
  view_.number = 0;
  view_.chief_epoch = options_.chief_epoch;
  Publish();
}

Result<Incarnation> Core::RegisterPs(std::uint32_t index, PeerProcess process, std::string address,
                                     std::vector<HeldCopy> held, CoreTime now) {
  const std::string name = "ps " + std::to_string(index);
  if (index >= options_.ps_count) {
    return InvalidArgumentError(name + ": the job has " + std::to_string(options_.ps_count));
  }
  for (const HeldCopy& copy : held) {
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
  ps.incarnation = (options_.chief_epoch << 32) | next_incarnation_++;
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

bool Core::PsKnown(std::uint32_t index, Incarnation incarnation) const {
  const auto it = ps_.find(index);
  return it != ps_.end() && it->second.incarnation == incarnation;
}

void Core::PsLost(std::uint32_t index, Incarnation incarnation) {
  if (!PsKnown(index, incarnation)) return;
  ForgetPs(index);
  Publish();
}

void Core::PsLeaving(std::uint32_t index, Incarnation incarnation) {
  if (!PsKnown(index, incarnation) || std::exchange(ps_.at(index).leaving, true)) return;
  PlanMoves();
  ReleaseEmptied();
  Publish();
}

void Core::ShardsActivated(std::uint32_t index, Incarnation incarnation,
                           const std::vector<HeldCopy>& copies) {
  if (!PsKnown(index, incarnation)) return;
  Actions drops;
  for (const HeldCopy& copy : copies) {
    if (copy.shard >= options_.shards || !copy.active) continue;
    Shard& shard = shards_[copy.shard];
    if (shard.phase != ShardPhase::kAssigned || shard.ps != index || shard.term != copy.term) {
      continue;
    }
    shard.phase = ShardPhase::kActive;
    shard.last_active = copy.term;
    ++active_;
    book_.SetShard(copy.shard, copy.applied);
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

void Core::AssignFailed(std::uint32_t index, Incarnation incarnation,
                        const AssignShardsAction& action, bool bad_cut) {
  if (bad_cut) CutRemoved(action.cut);
  if (!PsKnown(index, incarnation)) return;
  Actions returned;
  for (const Assignment& assignment : action.shards) {
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

bool Core::WorkerSeen(std::uint32_t index, PeerProcess process, const std::vector<Token>& holding) {
  if (worker_succession_.Outdated(index, process)) return false;
  worker_succession_.Take(index, process);
  if (const auto it = workers_.find(index); it != workers_.end() && it->second != process.id) {
    book_.ReturnAll(index);
  }
  workers_[index] = process.id;
  for (const Token token : holding) book_.Hold(index, token);
  return true;
}

void Core::WorkerLost(std::uint32_t index, std::uint64_t process) {
  const auto it = workers_.find(index);
  if (it == workers_.end() || it->second != process) return;
  workers_.erase(it);
  book_.ReturnAll(index);
}

std::vector<GrantedToken> Core::Grants(std::uint32_t worker, std::uint32_t want) {
  if (!AllActive() || draining_ || !workers_.contains(worker)) return {};
  std::size_t most = want;
  if (options_.grant_window > 0) {
    const std::size_t held = book_.held_by(worker);
    most = held >= options_.grant_window ? 0 : std::min(most, options_.grant_window - held);
  }
  return book_.Grant(worker, most);
}

void Core::ReturnGrants(std::uint32_t worker, const std::vector<Token>& tokens) {
  for (const Token token : tokens) book_.Return(worker, token);
}

ReportResult Core::Report(std::uint32_t worker, Token token,
                          const std::vector<ReportedCopy>& shards) {
  ReportResult result;
  if (!book_.Valid(token)) return result;
  if (book_.Committed(token)) {
    result.outcome = ReportResult::Outcome::kDuplicate;
    return result;
  }
  std::vector<ShardId> have;
  for (const ReportedCopy& copy : shards) {
    if (copy.shard >= options_.shards) continue;
    const Shard& shard = shards_[copy.shard];
    const bool current = shard.phase == ShardPhase::kActive && shard.term == copy.term;
    (current ? have : result.stale).push_back(copy.shard);
  }
  const bool committed = book_.Report(worker, token, have);
  result.outcome = committed ? ReportResult::Outcome::kCommitted : ReportResult::Outcome::kOpen;
  return result;
}

void Core::Tick(CoreTime now) {
  if (!joining_) return;
  if (ps_.size() == options_.ps_count || now - options_.started >= options_.rejoin_timeout) {
    EndJoining();
    Publish();
  }
}

CoreProgress Core::Progress() const {
  CoreProgress progress;
  progress.examples_expected = book_.examples_expected();
  progress.examples_committed = book_.examples_committed();
  progress.examples_in_flight = book_.examples_in_flight();
  progress.tokens_expected = book_.tokens_expected();
  progress.tokens_committed = book_.tokens_committed();
  progress.tokens_in_flight = book_.in_flight();
  progress.tokens_reopened = book_.tokens_reopened();
  return progress;
}

std::vector<CoreAction> Core::TakeActions() { return std::exchange(actions_, {}); }

}  // namespace pstrain
