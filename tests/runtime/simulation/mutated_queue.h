#pragma once

#include <optional>
#include <string>

#include "library/coordinator/closure_queue.h"

namespace pstrain::simulation {

/// What the first attempt that has succeeded has returned, of those that the chief was told of;
/// nothing: there is none. Of the process of a simulation. One thread.
std::optional<std::string> ResultOfFirstReport(const ClosureQueue& queue, ClosureQueue::Id id);

}  // namespace pstrain::simulation
