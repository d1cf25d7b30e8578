#include "runtime/chief/peers/pending_assignments.h"

#include <algorithm>
#include <utility>

#include "base/seconds.h"

namespace pstrain {
namespace {

/// Said of what takes longer.
constexpr std::chrono::seconds kSlow{10};
/// Times the limit, after so many moves that were given up.
constexpr int kLongest = 3;

/// The first shard that moves; null when none does.
const ShardAssignment* Moves(const AssignShardsAction& action) {
  const auto move = std::ranges::find(action.shards, AssignSource::kMove, &ShardAssignment::source);
  return move == action.shards.end() ? nullptr : &*move;
}

}  // namespace

std::uint64_t PendingAssignments::Begin(const AssignShardsAction& action, ProtocolTime now) {
  pending_[next_] = {.since = now, .action = action};
  return next_++;
}

bool PendingAssignments::End(std::uint64_t number) { return pending_.erase(number) > 0; }

// Rule 9, Move. The calls to a ps are made one after the other, so what comes behind a call that
// hangs is given up with it: its source serves again meanwhile.
std::vector<AssignShardsAction> PendingAssignments::GiveUpMoves(std::chrono::nanoseconds limit,
                                                                ProtocolTime now) {
  const std::chrono::nanoseconds most = limit * std::min(kLongest, 1 + given_up_);
  std::vector<AssignShardsAction> moves;
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    Pending& pending = entry->second;
    if (now - pending.since <= most || Moves(pending.action) == nullptr) {
      ++entry;
      continue;
    }
    moves.push_back(std::move(pending.action));
    entry = pending_.erase(entry);
  }
  if (!moves.empty()) ++given_up_;
  return moves;
}

std::string PendingAssignments::Describe(ProtocolTime now) const {
  if (pending_.empty()) return "";
  const auto& [since, action] = pending_.begin()->second;
  if (now - since <= kSlow) return "";
  std::string what =
      std::to_string(action.shards.size()) + (action.shards.size() == 1 ? " shard" : " shards");
  if (const ShardAssignment* const move = Moves(action)) {
    what += " from the ps at " + move->from;
  } else if (!action.checkpoint.empty()) {
    what += " from checkpoint " + action.checkpoint;
  }
  return "has not answered for " + WholeSeconds(now - since) + " that it has " + what;
}

void PendingAssignments::Forgive(const std::function<ProtocolTime(ProtocolTime)>& forgiven) {
  for (auto& [number, pending] : pending_) pending.since = forgiven(pending.since);
}

}  // namespace pstrain
