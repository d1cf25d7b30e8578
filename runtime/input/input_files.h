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

/// Whether an entry of `files` stands for the files that match it: it has one of the characters
/// `*`, `?` and `[` of glob(7), and no file has exactly this name. Looks at the disk; any thread,
/// as the functions below.
bool IsPattern(const std::string& path);

/// The paths that match, sorted by bytes; `*` and `?` match neither a slash nor a dot that begins a
/// name. INVALID_ARGUMENT: none does. A folder that cannot be read is an error, not one without
/// files.
Result<std::vector<std::string>> MatchFiles(const std::string& pattern);

/// The files of an input in the order in which they are read: each pattern in place of what it
/// matches. Errors as MatchFiles; INVALID_ARGUMENT also: a pattern matches a file that another
/// entry has already, which would be read twice.
Result<std::vector<std::string>> ExpandFiles(const Input& input);

/// Expands the patterns, unpacks the files where they are packed (plain_file.h, whose errors come
/// through) and looks at their columns. INVALID_ARGUMENT: no file is named, or the files differ in
/// their columns. `scratch` is the caller's alone.
Result<InputFiles> OpenInputFiles(const Input& input, const RecordSource& source,
                                  const std::filesystem::path& scratch);

}  // namespace pstrain
