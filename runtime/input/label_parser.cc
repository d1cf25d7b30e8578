#include "runtime/input/label_parser.h"

#include <utility>

#include "runtime/features/number.h"

namespace pstrain {

Result<LabelParser> LabelParser::Create(std::string source, std::string column,
                                        const google::protobuf::Map<std::string, double>& map) {
  LabelParser parser;
  for (const auto& [text, number] : map) {
    if (!(number >= 0 && number <= 1)) {
      return InvalidArgumentError("input." + source + ".labelMap: \"" + text +
                                  "\" must be a number between 0 and 1");
    }
    parser.map_.emplace(text, static_cast<float>(number));
  }
  parser.source_ = std::move(source);
  parser.column_ = std::move(column);
  return parser;
}

Result<float> LabelParser::Parse(std::string_view text) const {
  const auto wrong = [this](const std::string& what) {
    return InvalidArgumentError("column " + column_ + ": " + what);
  };
  if (text.empty()) return wrong("the label is missing");
  if (!map_.empty()) {
    const auto found = map_.find(std::string(text));
    if (found == map_.end()) {
      return wrong("unknown label \"" + std::string(text) + "\", not in " + source_ + ".labelMap");
    }
    return found->second;
  }
  const Result<double> number = ParseNumber(text);
  if (!number.ok()) return number.status().WithContext("column " + column_);
  if (!(*number >= 0 && *number <= 1)) {
    return wrong("label " + std::string(text) + " is not between 0 and 1");
  }
  return static_cast<float>(*number);
}

}  // namespace pstrain
