// The part of CommitProtocol that moves shards between ps that live: rule 9, Move. Its invariant: a
// source keeps its copy until the target's copy is active, so at every moment a crash of either one
// leaves the other's copy or a checkpoint.
#include <algorithm>
#include <utility>

#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain {

// Rule 9, Move and Scale: a ps that shards may move to. Invariant: it is registered, was not told
// to stop and is not surplus, so nothing that is known now makes it give a shard away again.
bool CommitProtocol::Stays(std::uint32_t index) const {
  const auto it = ps_.find(index);
  return it != ps_.end() && !it->second.leaving && index < options_.ps_count;
}

// Rule 9, Scale. Invariant: nothing is lost by it, whenever it comes. Shards with an owner move,
// which keeps their copies; shards without one are restored on their new homes, because the former
// ones may never return; one that is being assigned stays so until the answer, and moves then.
void CommitProtocol::SetPsCount(std::uint32_t ps_count, std::vector<std::uint32_t> shard_to_ps) {
  if (ps_count == options_.ps_count) return;
  options_.ps_count = ps_count;
  options_.shard_to_ps = std::move(shard_to_ps);
  SettleHomes();
  moves_blocked_ = false;
  if (!joining_) FillAllVacant();
  PlanMoves();
  Publish();
}

// Rule 9, Scale: a shard keeps its former home until the new one is there; a job that has asked for
// more ps does not depend on them before they come. Invariant: no home is surplus, for such a ps
// may never return.
void CommitProtocol::SettleHomes() {
  for (ShardId s = 0; s < options_.shards; ++s) {
    const std::uint32_t home = options_.shard_to_ps[s];
    if (ps_.contains(home) || homes_[s] >= options_.ps_count) homes_[s] = home;
  }
}

// Rule 9, Move: the ps that placement wants; while that one is away, where the shard is now; while
// that one does not stay either, one of the others, spread by the shard's number. Invariant: a
// shard never moves to a ps that is leaving or surplus.
std::uint32_t CommitProtocol::DesiredOwner(ShardId shard) const {
  const std::uint32_t owner = shards_[shard].ps;
  if (Stays(homes_[shard])) return homes_[shard];
  if (Stays(owner)) return owner;
  std::vector<std::uint32_t> others;
  for (const auto& [index, ps] : ps_) {
    if (Stays(index)) others.push_back(index);
  }
  return others.empty() ? owner : others[shard % others.size()];
}

// Rule 9, Move and Scale. Invariant: moves begin only while every shard is active, so none meets
// another assignment of its shard.
void CommitProtocol::PlanMoves() {
  // Near the end and while draining a checkpoint comes anyway. After a failed move, trying again
  // immediately would keep the job from training.
  if (moves_blocked_ || !AllActive() || draining_ || ledger_.Done()) return;
  Actions actions;
  std::vector<std::pair<ShardId, std::uint32_t>> due;
  for (ShardId s = 0; s < options_.shards; ++s) {
    const std::uint32_t to = DesiredOwner(s);
    if (to != shards_[s].ps) due.emplace_back(s, to);
  }
  if (due.empty()) move_pauses_.Reset();
  for (const auto& [shard, to] : due) Move(shard, to, &actions);
  EmitAll(std::move(actions));
}

// Rule 9, Move. A ps that came for shards waits for them. Invariant: moves that fail leave the job
// a pause to train in before the next try, because nothing is granted during a move.
void CommitProtocol::RetryMoves(ProtocolTime now) {
  if (!moves_blocked_) {
    moves_again_.reset();
  } else if (!moves_again_) {
    moves_again_ = now + move_pauses_.Next();
  } else if (now >= *moves_again_) {
    moves_blocked_ = false;
    moves_again_.reset();
    PlanMoves();
    if (!AllActive()) Publish();
  }
}

// Rule 9, Move: the target gets a new term and the address of the source. Invariant: the shard has
// no active owner until the target answers, so nothing is granted meanwhile; `origin` names the
// copy that the source keeps, until then or until ReturnHome.
void CommitProtocol::Move(ShardId shard, std::uint32_t to, Actions* actions) {
  const std::uint32_t from = shards_[shard].ps;
  const Ps& source = ps_.at(from);
  const Origin origin{from, source.incarnation, shards_[shard].term};
  Vacate(shard);
  AssignShardsAction& action = actions->try_emplace(to, NewAction(to)).first->second;
  Assign(shard, AssignSource::kMove, &action);
  action.shards.back().from = source.address;
  action.shards.back().from_term = origin.term;
  shards_[shard].origin = origin;
}

// Rule 9, Move: target lost or copy refused. Invariant: the source's new term is higher than the
// target's, so that a late answer of the target is void. When the source is gone too, the shard is
// vacant and rule 7 restores it.
void CommitProtocol::ReturnHome(ShardId shard, Actions* actions) {
  const Origin origin = *shards_[shard].origin;
  moves_blocked_ = true;
  Vacate(shard);
  if (!PsKnown(origin.ps, origin.incarnation)) return;
  AssignShardsAction& action = actions->try_emplace(origin.ps, NewAction(origin.ps)).first->second;
  Assign(shard, AssignSource::kKeep, &action);
}

// Rules 4, 7 and 9: one call for each ps, with all of its shards. Invariant: as Emit's; nothing
// that was assigned stays behind in the map, or its shard would wait for an answer for ever.
void CommitProtocol::EmitAll(Actions actions) {
  for (auto& [index, action] : actions) Emit(std::move(action));
}

// Rule 9, Move. Invariant: a ps is released only when nothing would be lost with it. The source of
// a move counts as an owner until the move is over.
void CommitProtocol::ReleaseEmptied() {
  if (joining_) return;
  std::vector<std::uint32_t> emptied;
  for (const auto& [index, ps] : ps_) {
    if (!ps.leaving) continue;
    const bool needed = std::ranges::any_of(shards_, [owner = index](const Shard& shard) {
      return (shard.phase != ShardPhase::kVacant && shard.ps == owner) ||
             (shard.origin && shard.origin->ps == owner);
    });
    if (!needed) emptied.push_back(index);
  }
  for (const std::uint32_t index : emptied) Release(index);
}

}  // namespace pstrain
