// The part of CommitProtocol that decides who owns which shard.
#include <algorithm>
#include <utility>

#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain {

void CommitProtocol::EndJoining() {
  joining_ = false;
  for (const auto& [index, ps] : ps_) {
    for (const ShardCopy& copy : ps.held) {
      ShardTerm& newest = shards_[copy.shard].last_active;
      if (copy.active) newest = std::max(newest, copy.term);
    }
  }
  for (const auto& [index, ps] : ps_) Adopt(index);
  FillAllVacant();
}

void CommitProtocol::Adopt(std::uint32_t index) {
  AssignShardsAction action = NewAction(index);
  for (const ShardCopy& copy : std::exchange(ps_.at(index).held, {})) {
    const Shard& shard = shards_[copy.shard];
    if (copy.active && shard.phase == ShardPhase::kVacant && copy.term >= shard.last_active) {
      Assign(copy.shard, AssignSource::kKeep, &action);
    } else {
      action.shards.push_back({copy.shard, copy.term, AssignSource::kDrop, {}, {}});
    }
  }
  Emit(std::move(action));
}

void CommitProtocol::FillVacant(std::uint32_t index) {
  AssignShardsAction action = NewAction(index);
  for (ShardId s = 0; s < options_.shards; ++s) {
    if (shards_[s].phase != ShardPhase::kVacant || options_.shard_to_ps[s] != index) continue;
    if (checkpoints_.empty() && had_checkpoints_) {
      if (!std::exchange(failed_, true)) {
        actions_.emplace_back(
            FailAction{DataLossError("no readable checkpoint is left to restore from")});
      }
      return;
    }
    if (!checkpoints_.empty()) action.checkpoint = checkpoints_.front();
    Assign(s, checkpoints_.empty() ? AssignSource::kInitial : AssignSource::kRestore, &action);
  }
  Emit(std::move(action));
}

AssignShardsAction CommitProtocol::NewAction(std::uint32_t index) const {
  AssignShardsAction action;
  action.ps = index;
  action.incarnation = ps_.at(index).incarnation;
  return action;
}

void CommitProtocol::Assign(ShardId shard, AssignSource source, AssignShardsAction* action) {
  Shard& state = shards_[shard];
  state.phase = ShardPhase::kAssigned;
  state.origin.reset();
  state.ps = action->ps;
  state.term = {options_.chief_term, next_term_++};
  action->shards.push_back({shard, state.term, source, {}, {}});
}

void CommitProtocol::Emit(AssignShardsAction action) {
  if (!action.shards.empty()) actions_.emplace_back(std::move(action));
}

void CommitProtocol::Vacate(ShardId shard) {
  if (shards_[shard].phase == ShardPhase::kActive) --active_;
  shards_[shard].phase = ShardPhase::kVacant;
  shards_[shard].origin.reset();
}

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
  // A shard that was here for another ps goes there at once.
  if (!joining_) FillAllVacant();
}

void CommitProtocol::FillAllVacant() {
  for (const auto& [index, ps] : ps_) FillVacant(index);
}

void CommitProtocol::Release(std::uint32_t index) {
  const Ps& ps = ps_.at(index);
  actions_.emplace_back(ReleasePsAction{index, ps.incarnation});
  ps_succession_.Retire(ps.process);
  ForgetPs(index);
}

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
