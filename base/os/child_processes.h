#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace pstrain {

/// The processes whose parent is `parent`, those that have ended and were not waited for too. Scans
/// /proc; any thread.
std::vector<pid_t> ChildProcesses(pid_t parent);

/// SIGKILLs and waits for every child of this process that is not in `kept`, and for what these
/// leave to it when it is their reaper (PR_SET_CHILD_SUBREAPER). Returns when none is left. One
/// thread; REQUIRES: no other waits for the children that are not kept.
void KillChildrenExcept(const std::set<pid_t>& kept);

}  // namespace pstrain
