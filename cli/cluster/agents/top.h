#pragma once

#include <string>

#include "cli/cluster/problem.h"
#include "cli/cluster/session.h"

namespace pstrain::cluster {

/// `pstrain top`: rate, busy share and memory of each replica that runs, by its agent; where the
/// agents may not be asked, the job's rate as its status has it. kExitNoAgent when one does not
/// answer: it is named, after the table of the others. One thread; blocks for two seconds and more.
Outcome Top(Session& session, const std::string& job);

}  // namespace pstrain::cluster
