#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/contract/run/evaluations.pb.h"
#include "proto/contract/run/final_counts.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {

/// What the shards of a checkpoint have counted themselves.
struct AppliedCounts {
  /// Examples, of the shard with the fewest and of that with the most.
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  /// Bad records that were left out, in every shard at least.
  std::int64_t skipped = 0;
  /// Records of batches that were left out because their loss or a gradient was not finite, of the
  /// shard with the most. In a final checkpoint all shards have the same; before, a batch that was
  /// computed twice, from other values, may be left out by some shards alone.
  std::int64_t non_finite = 0;
  /// Passes over the input that a shard has begun.
  std::uint32_t epochs_begun = 0;
};
AppliedCounts CountsOf(const CheckpointManifest& manifest);

/// What keeps checkpoints, or the result of a finished run, from being written.
struct CheckpointProblem {
  /// Since the newest one was placed, or since the chief's start.
  std::chrono::nanoseconds age{0};
  /// Since the first of those that failed one after the other was started, or since the one in
  /// progress was, when it takes longer than a minute; or since the first try to write the result.
  /// Zero when nothing is wrong.
  std::chrono::nanoseconds failing{0};
  /// Why the last one failed; OK when it only takes long.
  Status error;
};

/// The errno whose text the message ends with, as ErrnoError writes it; 0 for none. So the chief
/// knows that of a ps too.
int ErrnoOf(const Status& status);

/// What a run says of itself, on the stats page and in its result.
struct RunNumbers {
  CommitProgress progress;
  /// Every shard has an owner now.
  bool all_active = false;
  std::uint32_t batches_per_epoch = 0;
  std::uint64_t membership = 0;
  std::uint64_t chief_term = 0;
  std::optional<CheckpointId> newest_checkpoint;
  /// That the final checkpoint holds; nothing while there is none.
  std::optional<std::int64_t> final_examples;
  std::uint64_t checkpoints_placed = 0;
  /// By all chiefs of the run: of former ones what their newest checkpoint says. What `progress`
  /// says is this chief's.
  std::uint64_t batches_reopened = 0;
  AppliedCounts applied;
  /// Of a program: calls whose update shards go without, also those of its mark.
  std::optional<std::uint64_t> updates_lost;
  CheckpointProblem checkpoint_problem;
  /// How long the run's directory has not answered.
  std::chrono::nanoseconds disk_wait{0};
  /// How long somebody has been waited for without whom nothing is granted, or the run does not
  /// end.
  std::chrono::nanoseconds waiting{0};
  std::optional<double> loss;
  std::optional<double> restored_loss;
  /// Of the last evaluation.
  std::map<std::string, double> metrics;
  /// Of built-in training, as it is on disk; null: nothing.
  std::shared_ptr<const RunEvaluations> evaluations;
  /// EvaluationDigest of the job; nothing without an evaluation.
  std::optional<std::uint32_t> evaluation;
};

/// The content of result.json and stopped.json. Pure.
std::string ResultJson(const RunNumbers& numbers);

/// Puts on the stats page of a chief that found its run finished what proves it: the executor has
/// nothing else of that chief.
void PublishFinished(const FinalCounts& counts, ChiefStats& stats);

/// Puts the numbers on the stats page. Before every shard has been active once, what was committed
/// is not known, and stays as it is there. The chief's lock guards it: one thread at a time.
class NumbersPublisher {
 public:
  /// `stats` outlives it.
  explicit NumbersPublisher(ChiefStats& stats) : stats_(stats) {}
  void Publish(const RunNumbers& numbers);

 private:
  ChiefStats& stats_;
  /// Every shard has been active once and has said what it has.
  bool counts_known_ = false;
};

}  // namespace pstrain
