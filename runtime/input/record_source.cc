#include "runtime/input/record_source.h"

#include <algorithm>
#include <array>

#include "runtime/input/csv/csv_source.h"

namespace pstrain {
namespace {

struct SourceLine {
  Input::KindCase field;
  std::unique_ptr<RecordSource> (*create)(const Input& input);
};

/// The sources that there are: one line each.
constexpr std::array kSources = {
    SourceLine{Input::kCsv, CreateCsvSource},
};

}  // namespace

Result<std::unique_ptr<RecordSource>> CreateRecordSource(const Input& input) {
  const auto* const line = std::find_if(
      kSources.begin(), kSources.end(),
      [&input](const SourceLine& candidate) { return candidate.field == input.kind_case(); });
  if (line == kSources.end()) return InvalidArgumentError("input: no kind of input is given");
  return line->create(input);
}

}  // namespace pstrain
