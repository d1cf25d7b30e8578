// How a ShellSimulation looks at the histories of a program that saves marks.

#include <optional>
#include <string>

#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/newest_checkpoint.h"
#include "runtime/checkpoint/program_mark.h"
#include "tests/runtime/simulation/histories.h"
#include "tests/runtime/simulation/shell_simulation.h"

namespace pstrain::simulation {

void ShellSimulation::WatchHistories() {
  Histories().is_seen = [this](const CheckpointId& mark) { return IsSeen(mark); };
  Histories().violated = [this](const std::string& what) { Violated(what); };
}

bool ShellSimulation::IsSeen(const CheckpointId& mark) {
  const std::string folder = CheckpointDirectory(RunDirectory(), mark);
  disk_->looking = true;
  const Result<std::optional<CheckpointId>> noted = NotedNewestCheckpoint(RunDirectory());
  const Result<CheckpointManifest> manifest = OpenCheckpoint(folder, {});
  const bool readable = manifest.ok() && ReadMark(folder, *manifest).ok();
  disk_->looking = false;
  const bool named = noted.ok() && *noted == mark;
  return readable && (named || !disk_->MayBeUnseen(folder, chief_started_));
}

}  // namespace pstrain::simulation
