#pragma once

#include <string>

#include "base/status.h"
#include "cli/runs/run_folder.h"

namespace pstrain {

/// Removes the folder of a run with all of its checkpoints, while no job of `state_dir` that keeps
/// its runs in the same checkpoint directory is running, nor can begin to. Where it is the last run
/// of its job, the one with the newest checkpoint among the others of that job becomes that, and
/// its id is returned; empty: nothing has changed, or there is none. FAILED_PRECONDITION: such a
/// job is running, or the run is of no job of `state_dir`, so that nobody knows whether somebody
/// uses it. A run whose removal was interrupted is none any more; its rest is `<folder>.deleted`.
/// One thread.
Result<std::string> DeleteRun(const std::string& state_dir, const RunEntry& run);

}  // namespace pstrain
