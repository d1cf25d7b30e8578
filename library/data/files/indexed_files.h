#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "library/data/data_node.h"
#include "library/data/files/record_cursor.h"
#include "library/local/scratch_directory.h"

namespace pstrain::program {

/// The records of some files, one after the other. Reads all files once, to know where records are;
/// a file that has changed since then is FAILED_PRECONDITION when it is read. `scratch` has what
/// was unpacked, and goes away with the dataset. Other errors as RecordCursor::Skip. Any thread.
Result<DataNodePtr> OpenIndexedFiles(std::unique_ptr<const RecordFormat> format,
                                     const std::vector<InputFile>& files, ScratchDirectory scratch);

}  // namespace pstrain::program
