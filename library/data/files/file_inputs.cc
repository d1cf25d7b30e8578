#include "library/data/files/file_inputs.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "runtime/input/record_source.h"

namespace pstrain {
namespace program {

Input::Compression CompressionOf(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return Input::Plain;
    case Compression::kGzip:
      return Input::Gzip;
    case Compression::kAuto:
      break;
  }
  return Input::Auto;
}

Result<InputFiles> OpenInput(const Input& input, const ScratchDirectory& scratch) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RecordSource> source, CreateRecordSource(input));
  return OpenInputFiles(input, *source, scratch.path());
}

}  // namespace program

Result<std::vector<std::string>> Glob(const std::string& pattern) {
  if (pattern.empty()) return InvalidArgumentError("the pattern of files is empty");
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, globfree);
  errno = 0;
  // A folder that cannot be read is an error, not one without files. Sorted below, by bytes and not
  // by the locale.
  const int outcome = glob(pattern.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  if (outcome == GLOB_NOMATCH) {
    return InvalidArgumentError("no file matches \"" + pattern + "\"");
  }
  if (outcome == GLOB_NOSPACE)
    return ResourceExhaustedError("files that match \"" + pattern + "\"");
  if (outcome != 0)
    return ErrnoError(errno != 0 ? errno : EIO, "files that match \"" + pattern + "\"");
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::ranges::sort(paths);
  return paths;
}

}  // namespace pstrain
