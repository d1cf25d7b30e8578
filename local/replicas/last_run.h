#pragma once

#include <string>

#include "base/status.h"

namespace pstrain::local {

/// What the directory of a job (workspace.h) says of its last run. Reads one file; any thread.
struct LastRun {
  std::string run_id;
  /// Where its checkpoints are, in a folder named as the run; empty: it has none, or is older than
  /// this entry.
  std::string checkpoint_directory;
};

/// `<workspace>/run.json`. NOT_FOUND: nothing was run there; DATA_LOSS: it names no run.
Result<LastRun> ReadLastRun(const std::string& workspace);

/// Durable when it returns.
Status WriteLastRun(const std::string& workspace, const std::string& job, const LastRun& run);

}  // namespace pstrain::local
