#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::preflight {

/// The beginning of an input file, as the preflight looks at it. The functions read files and keep
/// nothing; any thread.

/// Most that the preflight reads of a file, and looks at of what it unpacks to.
inline constexpr std::size_t kSampleBytes = std::size_t{1} << 20;

/// The beginning of an input file without compression.
struct FileSample {
  /// The path, as messages call the file.
  std::string name;
  std::string text;
  /// The file goes on behind `text`.
  bool cut = false;
};

/// Whether a file of this path can be read: OK, or INVALID_ARGUMENT with the path and the way out
/// (absent, a folder, a pattern, empty, not readable).
Status CheckFile(const std::string& path);

/// What the folder of a path that is absent has in its place: "; did you mean ...?", or its files.
std::string AboutFolderOf(const std::string& path);

/// CheckFile, then reads at most `most` bytes of the file. INVALID_ARGUMENT also when it is
/// compressed in another way than `compression` says, or its gzip data are corrupt from the start.
Result<FileSample> SampleFile(const std::string& path, Input::Compression compression,
                              std::size_t most = kSampleBytes);

}  // namespace pstrain::preflight
