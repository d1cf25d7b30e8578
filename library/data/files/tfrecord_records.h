#pragma once

#include <pstrain/record_files.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "library/data/data_node.h"

namespace pstrain::program {

/// As Dataset::TfRecord. INVALID_ARGUMENT names the file, or the option of TfRecordOptions. Any
/// thread.
Result<DataNodePtr> OpenTfRecord(const std::vector<std::string>& files,
                                 const TfRecordOptions& options);

}  // namespace pstrain::program
