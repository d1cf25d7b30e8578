#include "runtime/worker/push/push_progress.h"

#include <algorithm>

namespace pstrain {

void PushProgress::Add(const PushOutcome& outcome) {
  bool applied = false;
  for (const ShardPush& push : outcome.shards) {
    applied = applied || push.outcome == ShardOutcome::kApplied;
    const bool gradient = push.outcome == ShardOutcome::kHasGradient;
    const bool kept = gradient && gradients_ == Gradients::kKept;
    has_gradient_ = has_gradient_ || (gradient && !kept);
    kept_ += kept ? 1u : 0u;
    refused_ = refused_ || push.outcome == ShardOutcome::kEarly ||
               push.outcome == ShardOutcome::kOtherChief;
    if (push.outcome == ShardOutcome::kApplied || push.outcome == ShardOutcome::kDuplicate ||
        kept) {
      have_.push_back({push.shard, push.term});
    }
    if (push.outcome == ShardOutcome::kEarly) early_.push_back({push.shard, push.term});
  }
  if (applied) updates_.insert(outcome.updates.begin(), outcome.updates.end());
  applied_ = applied_ || applied;
  wanted_ = outcome.Missing();
  done_ = wanted_.empty() && !refused_;
}

std::optional<std::uint64_t> PushProgress::Staleness(const UpdateCounts& pull) const {
  if (!applied_) return std::nullopt;
  return StalenessOf(pull, updates_);
}

}  // namespace pstrain
