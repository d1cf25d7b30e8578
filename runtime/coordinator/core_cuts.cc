// The part of Core that decides when a cut may be taken, what it builds on and whether it counts.
#include <algorithm>
#include <utility>

#include "runtime/coordinator/core.h"

namespace pstrain {

bool Core::CutWanted() const {
  if (!AllActive() || cut_) return false;
  return std::ranges::any_of(ps_, [](const auto& entry) { return entry.second.leaving; });
}

std::optional<CutPlan> Core::StartCut() {
  if (!AllActive() || cut_) return std::nullopt;
  Cut cut;
  CutPlan plan;
  plan.close_epochs_below = closed_epochs_;
  plan.final = AllCommitted();
  cut.complete_epochs = book_.CompleteEpochs();
  if (!plan.final && ChainMayGrow()) plan.base = chain_.newest;
  cut.base = plan.base;
  for (const auto& [index, ps] : ps_) {
    if (ps.leaving) cut.leaving.insert(ps.incarnation);
    CutPlan::Ps part{index, ps.incarnation, {}};
    for (ShardId s = 0; s < options_.shards; ++s) {
      if (shards_[s].ps == index) part.shards.push_back({s, shards_[s].term});
    }
    if (!part.shards.empty()) plan.ps.push_back(std::move(part));
  }
  for (const Shard& shard : shards_) cut.terms.push_back(shard.term);
  cut_ = std::move(cut);
  return plan;
}

// The final cut stands alone, so that it can be copied away without the others.
bool Core::ChainMayGrow() const {
  return std::ranges::find(cuts_, chain_.newest) != cuts_.end() &&
         chain_.increments + 1 < options_.full_every &&
         chain_.increment_bytes <= chain_.whole_bytes / 2;
}

Status Core::FinishCut(const std::vector<WrittenPiece>& pieces) {
  if (!cut_) return FailedPreconditionError("no cut is under way");
  Status status = CheckPieces(pieces);
  if (!status.ok()) {
    cut_.reset();
    return status;
  }
  for (const WrittenPiece& piece : pieces) {
    cut_->bytes += piece.bytes;
    cut_->incremental = cut_->incremental || piece.incremental;
  }
  return OkStatus();
}

Status Core::CheckPieces(const std::vector<WrittenPiece>& pieces) const {
  std::vector<bool> present(options_.shards, false);
  for (const WrittenPiece& piece : pieces) {
    if (piece.shard >= options_.shards || piece.term != cut_->terms[piece.shard]) {
      return AbortedError("cut: a piece is of another term");
    }
    if (piece.incremental && (cut_->base.empty() || chain_.terms[piece.shard] != piece.term)) {
      return AbortedError("cut: the piece of shard " + std::to_string(piece.shard) +
                          " is incremental and its base is of another term");
    }
    present[piece.shard] = true;
  }
  for (ShardId s = 0; s < options_.shards; ++s) {
    if (!present[s]) {
      return AbortedError("cut: the piece of shard " + std::to_string(s) + " is missing");
    }
    if (shards_[s].phase != ShardPhase::kActive || shards_[s].term != cut_->terms[s]) {
      return AbortedError("cut: shard " + std::to_string(s) + " has got a new term");
    }
  }
  if (!cut_->base.empty() && std::ranges::find(cuts_, cut_->base) == cuts_.end()) {
    return AbortedError("cut: its base " + cut_->base + " is not readable");
  }
  return OkStatus();
}

void Core::CutPlaced(std::string cut) {
  cuts_.insert(cuts_.begin(), std::move(cut));
  had_cuts_ = true;
  if (!cut_) return;
  if (cut_->incremental) {
    ++chain_.increments;
    chain_.increment_bytes += cut_->bytes;
  } else {
    chain_ = Chain();
    chain_.whole_bytes = cut_->bytes;
  }
  chain_.newest = cuts_.front();
  chain_.terms = std::move(cut_->terms);
  closed_epochs_ = std::max(closed_epochs_, cut_->complete_epochs);
  std::vector<std::uint32_t> released;
  for (const auto& [index, ps] : ps_) {
    if (cut_->leaving.contains(ps.incarnation)) released.push_back(index);
  }
  cut_.reset();
  moves_blocked_ = false;
  for (const std::uint32_t index : released) Release(index);
  PlanMoves();
  if (!AllActive()) Publish();
}

void Core::CutFailed() { cut_.reset(); }

void Core::CutRemoved(const std::string& cut) { std::erase(cuts_, cut); }

}  // namespace pstrain
