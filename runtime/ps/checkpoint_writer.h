#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/cluster/process_end.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain {

/// Writes the checkpoint shards of a ps, one checkpoint at a time (rule 5 of the commit protocol).
///
/// A checkpoint that is not newer than the last one is refused: the chief names each once, and what
/// is written twice or late would be a later state than the manifest names. A newer one ends the
/// one before, which copies no more shards, drops the copy that waits, and answers ABORTED once its
/// thread is back from the disk. Until then the newer one waits, without a copy, for Options::wait;
/// after that it is refused.
///
/// Memory: kMostCopies copies at most, however long the disk hangs and however many checkpoints
/// begin meanwhile. A shard is copied when there is room for its copy, so that no owner thread
/// waits for the disk.
///
/// Any thread; a call lasts as long as the disk takes.
class CheckpointWriter {
 public:
  /// One is written, the next one waits.
  static constexpr std::size_t kMostCopies = 2;

  struct Options {
    /// For the disk to give back the checkpoint before.
    std::chrono::milliseconds wait{10'000};
    /// Null: the process ends without a word about the disk.
    ProcessEnd* end = nullptr;
  };
  struct Order {
    CheckpointId id;
    /// Of the checkpoint; it exists.
    std::string folder;
    CopyOrder copies;
    /// The reply describes the copies too.
    bool final = false;
  };

  /// `engine` and `fail_points` outlive it.
  CheckpointWriter(const Options& options, ShardEngine& engine, const FailPoints& fail_points);

  /// Files and names are on disk when it returns OK. FAILED_PRECONDITION: not newer than the last.
  /// ABORTED: a newer one has begun, or a shard is not active here in its term. INTERNAL: the disk
  /// does not give back the one before. Else errors of the disk and of ShardEngine::Snapshot.
  Status Write(const Order& order, WriteCheckpointShardsReply* reply) PSTRAIN_EXCLUDES(mutex_);

 private:
  /// Copies on their way from the owner threads; the error of a copy.
  using Copies = BoundedQueue<Result<ShardState>>;

  Result<std::shared_ptr<Copies>> Begin(const CheckpointId& id) PSTRAIN_EXCLUDES(mutex_);
  /// The outcome: `written`, or that a newer one has begun.
  Status End(const CheckpointId& id, const Status& written) PSTRAIN_EXCLUDES(mutex_);
  Status Overtaken(const CheckpointId& id) const PSTRAIN_REQUIRES(mutex_);
  Status WriteCopies(const Order& order, const std::shared_ptr<Copies>& copies,
                     WriteCheckpointShardsReply* reply);
  /// Asks for the copy of one shard of the order.
  void Copy(const CopyOrder& order, std::size_t place, const std::shared_ptr<Copies>& copies);

  /// A checkpoint whose call is in the disk.
  struct InHand {
    CheckpointId id;
    std::shared_ptr<Copies> copies;
    SteadyTime since;
  };

  const Options options_;
  ShardEngine& engine_;
  const FailPoints& fail_points_;
  Mutex mutex_;
  CondVar changed_;
  /// The newest that this ps was told to write.
  std::optional<CheckpointId> newest_ PSTRAIN_GUARDED_BY(mutex_);
  std::optional<InHand> in_hand_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
