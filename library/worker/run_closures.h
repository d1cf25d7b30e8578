#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "library/worker/closure_runner.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// What a worker of a program is told beside RoleContext. A value; any thread may read it.
struct ClosureJob {
  /// Makes what runs closures, once the chief has described the run.
  std::function<std::unique_ptr<ClosureRunner>()> create_runner;
  /// How many closures run at a time.
  std::uint32_t closures = 2;
  /// As GrantSession::Options.
  bool starts_over = false;
  /// Its process ends with it: then it ends when all its functions hang, to be started again.
  bool ends_when_all_hang = true;
};

/// The life of a program's worker, as RunWorker is that of one that trains: takes closures from the
/// chief and turns each into an applied one. Survives the loss of ps. Returns the exit code: 0 when
/// the program has finished, 85 when it was told to stop or the run was drained, 86 when a newer
/// process took its place or all its functions hang; or the error. Runs on the thread that calls
/// it, and starts others.
Result<int> RunClosures(const RoleContext& context, const ClosureJob& job);

}  // namespace pstrain
