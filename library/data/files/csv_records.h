#pragma once

#include <pstrain/record_files.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "library/data/data_node.h"

namespace pstrain::program {

/// As Dataset::Csv. INVALID_ARGUMENT names the file, or the option of CsvOptions. Any thread.
Result<DataNodePtr> OpenCsv(const std::vector<std::string>& files, const CsvOptions& options);

}  // namespace pstrain::program
