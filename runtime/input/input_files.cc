#include "runtime/input/input_files.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include "base/os/files.h"
#include "proto/job/input_kind.h"
#include "runtime/input/plain_file.h"

namespace pstrain {

bool IsPattern(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos && !FileExists(path);
}

Result<std::vector<std::string>> MatchFiles(const std::string& pattern) {
  const std::string what = "files that match \"" + pattern + "\"";
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, globfree);
  errno = 0;
  // Sorted below, by bytes and not by the locale.
  const int outcome = glob(pattern.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  if (outcome == GLOB_NOMATCH) {
    return InvalidArgumentError("no file matches \"" + pattern + "\"");
  }
  if (outcome == GLOB_NOSPACE) return ResourceExhaustedError(what);
  if (outcome != 0) return ErrnoError(errno != 0 ? errno : EIO, what);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<std::string>> ExpandFiles(const Input& input) {
  std::vector<std::string> files;
  // By file: the pattern that has matched it, empty for one that is named as it is.
  std::map<std::string, std::string> by;
  const auto add = [&](const std::string& file, const std::string& pattern) {
    const auto [other, is_new] = by.emplace(file, pattern);
    files.push_back(file);
    // Who writes a path twice means it; who writes a pattern does not see what it matches.
    if (is_new || (pattern.empty() && other->second.empty())) return OkStatus();
    return InvalidArgumentError(file + ": is in the input twice, also by the pattern \"" +
                                (pattern.empty() ? other->second : pattern) +
                                "\"; let one entry of files name it");
  };
  for (const std::string& path : FilesOf(input)) {
    if (!IsPattern(path)) {
      PSTRAIN_RETURN_IF_ERROR(add(path, {}));
      continue;
    }
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> matches, MatchFiles(path));
    for (const std::string& match : matches) PSTRAIN_RETURN_IF_ERROR(add(match, path));
  }
  return files;
}

Result<InputFiles> OpenInputFiles(const Input& input, const RecordSource& source,
                                  const std::filesystem::path& scratch) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ExpandFiles(input));
  if (paths.empty()) {
    return InvalidArgumentError("input." + KindOf(input) + ".files: must name at least one file");
  }
  InputFiles opened;
  for (const std::string& path : paths) {
    PSTRAIN_ASSIGN_OR_RETURN(std::filesystem::path plain,
                             PlainFileOf(path, CompressionOf(input), scratch));
    InputFile file{path, std::move(plain)};
    PSTRAIN_ASSIGN_OR_RETURN(std::vector<std::string> columns, source.Columns(file));
    if (opened.files.empty()) {
      opened.columns = std::move(columns);
    } else if (columns != opened.columns) {
      return InvalidArgumentError(path + ": the header differs from the first file's");
    }
    opened.files.push_back(std::move(file));
  }
  return opened;
}

}  // namespace pstrain
