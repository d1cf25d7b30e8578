#pragma once

#include <pstrain/coordinator.h>
#include <pstrain/deadline.h>
#include <pstrain/status.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pstrain {

namespace program {
class Run;
}  // namespace program

/// Mirrors the arguments of tf.train.CheckpointManager; checkpoints without a mark do not count.
struct CheckpointManagerOptions {
  /// The newest marks that stay, 2 to 10000, as one may be damaged; none: all. Mirrors max_to_keep.
  std::optional<int> max_to_keep = 2;
};

/// Mirrors the arguments of tf.train.CheckpointManager.save. A value.
struct SaveOptions {
  /// What RestoreOrInitialize returns, from 1 on, in any order. Mirrors checkpoint_number.
  std::int64_t mark = 0;
  /// Kept with the mark, at most 64 KiB: what `main` has to know and no variable holds.
  std::string user_bytes = {};
  Deadline deadline = std::chrono::minutes(10);
};

/// Marks: places of `main` that the program goes on from when its chief is lost. Mirrors
/// tf.train.CheckpointManager. The loss of a worker or a ps needs none.
///
/// The next `main` begins at its first line: it declares its variables again, makes the manager,
/// and RestoreOrInitialize says which mark was the newest. All variables, with what their
/// optimizers keep, the metrics and the named iterators are then as they were when that mark was
/// saved, and nothing that was scheduled since has happened:
///
///   PSTRAIN_ASSIGN_OR_RETURN(auto manager, CheckpointManager::Create(coordinator));
///   PSTRAIN_ASSIGN_OR_RETURN(std::int64_t epoch, manager.RestoreOrInitialize());
///   for (; epoch < 10; ++epoch) {
///     ...
///     PSTRAIN_RETURN_IF_ERROR(manager.Save({.mark = epoch + 1}));
///   }
///
/// In a cluster the marks lie in the directory of the job (spec.program.checkpoint.directory); as
/// threads of one process in that of StrategyOptions::checkpoint_directory, without which they end
/// with the process.
///
/// A variable that the mark has, and that is declared otherwise, is ALREADY_EXISTS at its
/// declaration. Variables that are not declared again stay, and are in the next mark too.
///
/// A value: copies are of the same run. Its calls come from one thread, which is the only one that
/// schedules from RestoreOrInitialize on.
class CheckpointManager {
 public:
  /// One for each run, before the first call is scheduled. FAILED_PRECONDITION: there is one, or
  /// something was scheduled or assigned. INVALID_ARGUMENT: options out of their bounds.
  static Result<CheckpointManager> Create(const ClusterCoordinator& coordinator,
                                          const CheckpointManagerOptions& options = {});

  /// The newest mark of the run, which variables, metrics and named iterators are at; 0: the run
  /// begins. Until it was called, nothing can be scheduled or assigned; so it is, too, where the
  /// run has a mark and no manager is made. Mirrors restore_or_initialize. FAILED_PRECONDITION: it
  /// was called before. (Where there are marks and none can be read, the strategy is not made:
  /// UNAVAILABLE, and the log has DATA_LOSS with the files.)
  Result<std::int64_t> RestoreOrInitialize();
  /// What was given to the mark of RestoreOrInitialize; empty: nothing.
  std::string user_bytes() const;

  /// As ClusterCoordinator::Join, then a checkpoint in which every shard has every call that was
  /// scheduled, with this mark in it. It is durable when this returns. A ps or worker that is lost
  /// meanwhile is waited for. Mirrors save. The error of a function: it counts as told.
  /// INVALID_ARGUMENT: the mark is below 1. RESOURCE_EXHAUSTED: too many bytes, or the disk is
  /// full; DEADLINE_EXCEEDED names what is waited for. FAILED_PRECONDITION: RestoreOrInitialize was
  /// not called, or by another thread. UNAVAILABLE: the run has ended. After an error there is no
  /// such mark, all is as before, and it may be called again.
  Status Save(const SaveOptions& options);

 private:
  explicit CheckpointManager(std::shared_ptr<program::Run> run) : run_(std::move(run)) {}

  std::shared_ptr<program::Run> run_;
};

}  // namespace pstrain
