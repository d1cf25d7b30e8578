#include <pstrain/checkpoint_manager.h>

#include <string>

#include "library/run.h"

namespace pstrain {
namespace {

constexpr int kMostKept = 10000;

}  // namespace

Result<CheckpointManager> CheckpointManager::Create(const ClusterCoordinator& coordinator,
                                                    const CheckpointManagerOptions& options) {
  std::optional<std::uint32_t> most;
  if (options.max_to_keep) {
    if (*options.max_to_keep < 2 || *options.max_to_keep > kMostKept) {
      return InvalidArgumentError("CheckpointManagerOptions.max_to_keep is " +
                                  std::to_string(*options.max_to_keep) +
                                  ", and has to be from 2 to " + std::to_string(kMostKept));
    }
    most = static_cast<std::uint32_t>(*options.max_to_keep);
  }
  PSTRAIN_RETURN_IF_ERROR(coordinator.run_->AwaitBegin(most));
  return CheckpointManager(coordinator.run_);
}

Result<std::int64_t> CheckpointManager::RestoreOrInitialize() { return run_->Begin(); }

std::string CheckpointManager::user_bytes() const {
  const std::optional<ProgramMark> mark = run_->queue().mark();
  return mark ? mark->user() : std::string();
}

Status CheckpointManager::Save(const SaveOptions& options) {
  if (options.mark < 1) {
    return InvalidArgumentError("SaveOptions.mark is " + std::to_string(options.mark) +
                                ", and has to be 1 at least: a run that begins is at 0");
  }
  ProgramMark mark;
  mark.set_mark(options.mark);
  mark.set_user(options.user_bytes);
  return run_->SaveMark(std::move(mark), program::EndOf(options.deadline));
}

}  // namespace pstrain
