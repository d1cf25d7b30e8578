#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/job/job_state.h"

namespace pstrain::job {

/// The message of the condition NameConflict: which objects have names that the job needs, the
/// first three of them by kind and name, and what to do. Nothing when there are none. Pure; any
/// thread.
std::optional<std::string> NameConflictOf(const std::vector<JobState::ConflictingObject>& objects);

}  // namespace pstrain::job
