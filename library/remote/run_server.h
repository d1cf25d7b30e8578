#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "library/worker/closure_runner.h"
#include "runtime/cluster/process/role_process.h"

namespace pstrain {

/// The life of a program's ps or worker as a process of its own. `create_runner` makes what runs
/// closures in the worker of that index. The exit code: 0 when the program has finished, 85 when it
/// was told to stop or the chief drains, 86 when a newer process took its place or another chief
/// has started the run over, 87 when no attempt can succeed; or the error. FAILED_PRECONDITION: the
/// task is neither. Runs on the thread that calls it, and starts others.
Result<int> RunServer(
    RoleProcess& process,
    const std::function<std::unique_ptr<ClosureRunner>(std::uint32_t worker)>& create_runner);

}  // namespace pstrain
