#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "cli/runs/run_folder.h"

namespace pstrain {

/// What is said of runs, for people as lines of text and for programs as JSON. Pure; any thread.

/// A line for each run, below the names of the columns.
std::string RunList(const std::vector<RunEntry>& runs);
Json RunsJson(const std::vector<RunEntry>& runs);
/// Its result and its checkpoints.
std::string RunDetails(const RunEntry& run);
Json RunJson(const RunEntry& run);
/// A line for each number of the results, with a column for each run, then one for each field of
/// their jobs (proto/job/fixed_fields.h) that differs, by the newest checkpoint of each. REQUIRES:
/// at least one.
std::string RunComparison(const std::vector<RunEntry>& runs);
Json ComparisonJson(const std::vector<RunEntry>& runs);

/// A line for each checkpoint, below the names of the columns; one that cannot be read has the
/// reason.
std::string CheckpointList(const std::vector<CheckpointEntry>& checkpoints);
Json CheckpointsJson(const std::vector<CheckpointEntry>& checkpoints);

}  // namespace pstrain
