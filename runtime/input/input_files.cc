#include "runtime/input/input_files.h"

#include <utility>

#include "proto/job/input_kind.h"
#include "runtime/input/plain_file.h"

namespace pstrain {

Result<InputFiles> OpenInputFiles(const Input& input, const RecordSource& source,
                                  const std::filesystem::path& scratch) {
  const std::vector<std::string> paths = FilesOf(input);
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
