#include "library/data/files/file_inputs.h"

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
  return MatchFiles(pattern);
}

}  // namespace pstrain
