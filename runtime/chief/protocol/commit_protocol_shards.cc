// The part of CommitProtocol that decides who owns which shard: rules 7 to 9. Its invariant: every
// assignment has a new, higher term, so a former owner that still lives cannot get anything
// committed.
#include <algorithm>
#include <utility>

#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain {

// Rule 8: of several copies of a shard that ps have, the one of the highest active term is kept; it
// has everything that any chief counted as committed for this shard. Invariant: all copies are
// looked at before any is kept, so the order in which ps registered does not matter.
void CommitProtocol::EndJoining() {
  joining_ = false;
  for (const auto& [index, ps] : ps_) {
    for (const ShardCopy& copy : ps.copies) {
      ShardTerm& newest = shards_[copy.shard].last_active;
      if (copy.active) newest = std::max(newest, copy.term);
    }
  }
  for (const auto& [index, ps] : ps_) Adopt(index);
  FillAllVacant();
}

// Rule 8. Invariant: a copy is kept only when its term is not below any under which its shard was
// known to be active. An older one is dropped even when the shard is still vacant: it may lack what
// was committed since, and restoring is right.
void CommitProtocol::Adopt(std::uint32_t index) {
  AssignShardsAction action = NewAction(index);
  for (const ShardCopy& copy : std::exchange(ps_.at(index).copies, {})) {
    const Shard& shard = shards_[copy.shard];
    if (copy.active && shard.phase == ShardPhase::kVacant && copy.term >= shard.last_active) {
      Assign(copy.shard, AssignSource::kKeep, &action);
    } else {
      action.shards.push_back({copy.shard, copy.term, AssignSource::kDrop, {}, {}});
    }
  }
  Emit(std::move(action));
}

// Rules 7 and 9: shards that nobody has are restored from the newest checkpoint, or begin from
// their initial values while the run has none. Invariant: a run that had checkpoints and can read
// none of them fails instead of starting again from nothing.
void CommitProtocol::FillVacant(std::uint32_t index) {
  AssignShardsAction action = NewAction(index);
  for (ShardId s = 0; s < options_.shards; ++s) {
    if (shards_[s].phase != ShardPhase::kVacant || homes_[s] != index) continue;
    if (ReturnsForLostShard(s)) return;
    if (checkpoints_.empty() && had_checkpoints_) {
      FailRun(DataLossError("no readable checkpoint is left to restore from"));
      return;
    }
    if (!checkpoints_.empty()) action.checkpoint = checkpoints_.front();
    Assign(s, checkpoints_.empty() ? AssignSource::kInitial : AssignSource::kRestore, &action);
  }
  Emit(std::move(action));
}

// Rule 7, of a program that wants it exact. A shard that was active in this chief's life and that
// nobody has any more would begin at the newest checkpoint, and what it lacks would run again.
// Invariant: this is asked of vacant shards alone, so of none that moves, and of none of which a ps
// that registers has the copy (Adopt comes first). A run that drains ends before anything is
// granted.
bool CommitProtocol::ReturnsForLostShard(ShardId shard) {
  const bool was_active = shards_[shard].last_active.chief_term == options_.chief_term;
  if (!options_.return_when_lost || draining_ || !was_active) return false;
  if (!std::exchange(failed_, true)) {
    actions_.emplace_back(ReturnToMarkAction{
        "shard " + std::to_string(shard) + " was lost with its ps " +
        std::to_string(shards_[shard].ps) + ", and is not restored from a checkpoint"});
  }
  return true;
}

// Rules 7 to 9. Invariant: an assignment is for one life of a ps, which its incarnation names; the
// next life has other copies, and must not answer for it. REQUIRES: the ps is registered.
AssignShardsAction CommitProtocol::NewAction(std::uint32_t index) const {
  AssignShardsAction action;
  action.ps = index;
  action.incarnation = ps_.at(index).incarnation;
  return action;
}

// Rules 7 to 9. Invariant: no term is given twice in the life of a run, and a shard's terms only
// grow. Terms are made here alone: counted up within a chief term, which is itself unique and
// higher than those before it.
void CommitProtocol::Assign(ShardId shard, AssignSource source, AssignShardsAction* action) {
  Shard& state = shards_[shard];
  state.phase = ShardPhase::kAssigned;
  state.origin.reset();
  state.ps = action->ps;
  state.term = {options_.chief_term, next_term_++};
  action->shards.push_back({shard, state.term, source, {}, {}});
}

// Rules 7 to 9. Invariant: actions come out in the order of the assignments: of two terms of one
// shard the higher one is last. A ps for which there is nothing is not called.
void CommitProtocol::Emit(AssignShardsAction action) {
  if (!action.shards.empty()) actions_.emplace_back(std::move(action));
}

// Rules 4, 7 and 9: the shard has no owner. Invariant: active_ is the number of shards in kActive;
// the old term stays in `term` but is not active, so reports in it are stale.
void CommitProtocol::Vacate(ShardId shard) {
  if (shards_[shard].phase == ShardPhase::kActive) --active_;
  shards_[shard].phase = ShardPhase::kVacant;
  shards_[shard].origin.reset();
}

// Rule 4. The answer to an assignment has the copy's applied set, and what that lacks is open
// again, whatever was reported. Invariant: until then the shard is not active, so nothing is
// granted by what was reported wrongly, and a report in the old term is stale.
std::vector<ShardId> CommitProtocol::AskAgain(const ShardSet& shards) {
  std::vector<ShardId> asked;
  Actions actions;
  shards.ForEach([&](ShardId s) {
    const std::uint32_t ps = shards_[s].ps;
    Vacate(s);
    Assign(s, AssignSource::kKeep, &actions.try_emplace(ps, NewAction(ps)).first->second);
    asked.push_back(s);
  });
  if (asked.empty()) return asked;
  EmitAll(std::move(actions));
  Publish();
  return asked;
}

// Rule 7: shards of a ps that is gone are vacant; those that were moving to it return to their
// source. Invariant: no shard is assigned to, or active on, a ps that is not registered.
void CommitProtocol::ForgetPs(std::uint32_t index) {
  Actions actions;
  for (ShardId s = 0; s < options_.shards; ++s) {
    const Shard& shard = shards_[s];
    if (shard.phase == ShardPhase::kVacant || shard.ps != index) continue;
    if (shard.origin) {
      ReturnHome(s, &actions);
    } else {
      Vacate(s);
    }
  }
  ps_.erase(index);
  EmitAll(std::move(actions));
  // A shard that placement wants on another ps, which is here, is assigned there now.
  if (!joining_) FillAllVacant();
}

// Rules 7 and 9, for all ps that are here. Invariant: afterwards a shard is vacant only while its
// home is away, or once the run has failed.
void CommitProtocol::FillAllVacant() {
  for (const auto& [index, ps] : ps_) FillVacant(index);
}

// Rule 9, Move: a ps that was told to stop may end. Invariant: its process is retired, so that a
// late registration of it cannot take shards.
void CommitProtocol::Release(std::uint32_t index) {
  const Ps& ps = ps_.at(index);
  actions_.emplace_back(ReleasePsAction{index, ps.incarnation});
  ps_succession_.Retire(index, ps.process);
  ForgetPs(index);
}

// Rule 2: by this view workers know where to push, and under which terms. Invariant: another view
// has a higher number, which workers compare with the one that they have seen.
void CommitProtocol::Publish() {
  ++view_.number;
  view_.ps.clear();
  for (const auto& [index, ps] : ps_) view_.ps.push_back({index, ps.incarnation, ps.address});
  view_.shards.clear();
  for (const Shard& shard : shards_) {
    view_.shards.push_back({shard.ps, shard.term, shard.phase == ShardPhase::kActive});
  }
}

}  // namespace pstrain
