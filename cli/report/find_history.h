#pragma once

#include <string>

#include "base/status.h"
#include "cli/report/report_page.h"

namespace pstrain {

/// What is kept of a run that was run here: by the name of its job (the last run of it), by its run
/// id, or by its folder. NOT_FOUND says where was looked. Reads files; any thread.
Result<ReportFacts> FindHistory(const std::string& state_dir, const std::string& name);

}  // namespace pstrain
