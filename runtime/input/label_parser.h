#pragma once

#include <google/protobuf/map.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.h"

namespace pstrain {

/// Turns the text of a label into a number in [0, 1], by the job's labelMap or, where that is
/// empty, as a number. The same for every record source. Immutable; any thread may use it.
class LabelParser {
 public:
  /// `source`: the source's field of Input, for messages; `column`: where its labels are.
  /// INVALID_ARGUMENT when a number of the map is outside [0, 1].
  static Result<LabelParser> Create(std::string source, std::string column,
                                    const google::protobuf::Map<std::string, double>& map);

  /// An empty text is a missing label. INVALID_ARGUMENT names the column and the text.
  Result<float> Parse(std::string_view text) const;

 private:
  LabelParser() = default;

  std::string source_;
  std::string column_;
  std::unordered_map<std::string, float> map_;
};

}  // namespace pstrain
