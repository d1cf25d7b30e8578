// The part of Core that decides who owns which shard.
#include <algorithm>
#include <utility>

#include "runtime/coordinator/core.h"

namespace pstrain {

void Core::EndJoining() {
  joining_ = false;
  for (const auto& [index, ps] : ps_) {
    for (const HeldCopy& copy : ps.held) {
      Term& newest = shards_[copy.shard].last_active;
      if (copy.active) newest = std::max(newest, copy.term);
    }
  }
  for (const auto& [index, ps] : ps_) Adopt(index);
  FillAllVacant();
}

void Core::Adopt(std::uint32_t index) {
  AssignShardsAction action = NewAction(index);
  for (const HeldCopy& copy : std::exchange(ps_.at(index).held, {})) {
    const Shard& shard = shards_[copy.shard];
    if (copy.active && shard.phase == ShardPhase::kVacant && copy.term >= shard.last_active) {
      Assign(copy.shard, AssignSource::kKeep, &action);
    } else {
      action.shards.push_back({copy.shard, copy.term, AssignSource::kDrop, {}, {}});
    }
  }
  Emit(std::move(action));
}

void Core::FillVacant(std::uint32_t index) {
  AssignShardsAction action = NewAction(index);
  for (ShardId s = 0; s < options_.shards; ++s) {
    if (shards_[s].phase != ShardPhase::kVacant || options_.shard_to_ps[s] != index) continue;
    if (cuts_.empty() && had_cuts_) {
      if (!std::exchange(failed_, true)) {
        actions_.emplace_back(FailAction{DataLossError("no readable cut is left to restore from")});
      }
      return;
    }
    if (!cuts_.empty()) action.cut = cuts_.front();
    Assign(s, cuts_.empty() ? AssignSource::kInitial : AssignSource::kRestore, &action);
  }
  Emit(std::move(action));
}

AssignShardsAction Core::NewAction(std::uint32_t index) const {
  AssignShardsAction action;
  action.ps = index;
  action.incarnation = ps_.at(index).incarnation;
  return action;
}

void Core::Assign(ShardId shard, AssignSource source, AssignShardsAction* action) {
  Shard& state = shards_[shard];
  state.phase = ShardPhase::kAssigned;
  state.origin.reset();
  state.ps = action->ps;
  state.term = {options_.chief_epoch, next_term_++};
  action->shards.push_back({shard, state.term, source, {}, {}});
}

void Core::Emit(AssignShardsAction action) {
  if (!action.shards.empty()) actions_.emplace_back(std::move(action));
}

void Core::Vacate(ShardId shard) {
  if (shards_[shard].phase == ShardPhase::kActive) --active_;
  shards_[shard].phase = ShardPhase::kVacant;
  shards_[shard].origin.reset();
}

void Core::ForgetPs(std::uint32_t index) {
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
  // A shard that was here for another ps goes there at once.
  if (!joining_) FillAllVacant();
}

void Core::FillAllVacant() {
  for (const auto& [index, ps] : ps_) FillVacant(index);
}

void Core::Release(std::uint32_t index) {
  const Ps& ps = ps_.at(index);
  actions_.emplace_back(ReleasePsAction{index, ps.incarnation});
  ps_succession_.Retire(ps.process);
  ForgetPs(index);
}

void Core::Publish() {
  ++view_.number;
  view_.ps.clear();
  for (const auto& [index, ps] : ps_) view_.ps.push_back({index, ps.incarnation, ps.address});
  view_.shards.clear();
  for (const Shard& shard : shards_) {
    view_.shards.push_back({shard.ps, shard.term, shard.phase == ShardPhase::kActive});
  }
}

}  // namespace pstrain
