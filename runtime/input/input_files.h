#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// The files of an input, ready to be read, and the columns that all of them have.
struct InputFiles {
  std::vector<InputFile> files;
  /// As RecordSource::Columns.
  std::vector<std::string> columns;
};

/// Unpacks the files where they are packed (plain_file.h, whose errors come through) and looks at
/// their columns. INVALID_ARGUMENT: no file is named, or the files differ in their columns. Any
/// thread; `scratch` is the caller's alone.
Result<InputFiles> OpenInputFiles(const Input& input, const RecordSource& source,
                                  const std::filesystem::path& scratch);

}  // namespace pstrain
