#pragma once

#include <sys/types.h>

#include <vector>

namespace pstrain {

/// The processes whose parent is `parent`, zombies left out. Scans /proc; any thread.
std::vector<pid_t> LivingChildren(pid_t parent);

}  // namespace pstrain
