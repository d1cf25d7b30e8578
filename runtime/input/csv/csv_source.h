#pragma once

#include <memory>

#include "proto/job/psjob.pb.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// Text files with one record a line, fields as RFC 4180 has them (csv_splitter.h). A position is
/// the offset and the line. REQUIRES: input.csv is given. The source is as RecordSource says; any
/// thread may make one.
std::unique_ptr<RecordSource> CreateCsvSource(const Input& input);

}  // namespace pstrain
