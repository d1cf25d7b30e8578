#include "runtime/input/csv/csv_decoder.h"

#include <algorithm>
#include <utility>

#include "runtime/features/fingerprint.h"

namespace pstrain {
namespace {

Result<std::size_t> FieldOf(const std::vector<std::string>& columns, const std::string& name,
                            std::string_view wanted_by) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) {
    return InvalidArgumentError(std::string(wanted_by) + ": the input has no column \"" + name +
                                "\"");
  }
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

Result<CsvDecoder> CsvDecoder::Create(const CsvInput& input,
                                      const std::vector<std::string>& all_columns,
                                      const RecordLayout& layout) {
  std::vector<std::string> columns = all_columns;
  if (layout.labels == Labels::kAbsent && !input.header()) {
    std::erase(columns, input.label_column());
  }
  std::optional<std::size_t> label_field;
  if (layout.labels == Labels::kRequired) {
    PSTRAIN_ASSIGN_OR_RETURN(label_field,
                             FieldOf(columns, input.label_column(), "input.csv.labelColumn"));
  }
  for (const std::string& ignored : input.ignore_columns()) {
    PSTRAIN_ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t position,
                             FieldOf(columns, ignored, "input.csv.ignoreColumns"));
  }
  std::vector<std::size_t> wanted_fields;
  for (const std::string& column : layout.columns) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::size_t position,
                             FieldOf(columns, column, "model features"));
    if (column == input.label_column()) {
      return InvalidArgumentError("model features: column \"" + column + "\" is the label");
    }
    const auto& ignored = input.ignore_columns();
    if (std::find(ignored.begin(), ignored.end(), column) != ignored.end()) {
      return InvalidArgumentError("model features: column \"" + column + "\" is ignored");
    }
    wanted_fields.push_back(position);
  }
  PSTRAIN_ASSIGN_OR_RETURN(LabelParser labels,
                           LabelParser::Create("csv", input.label_column(), input.label_map()));
  CsvDecoder decoder(std::move(labels));
  decoder.field_count_ = columns.size();
  decoder.label_field_ = label_field;
  decoder.wanted_fields_ = std::move(wanted_fields);
  decoder.missing_ = input.missing();
  decoder.fingerprint_ = layout.fingerprint;
  return decoder;
}

void CsvDecoder::Decode(const CsvRecord& fields, Record& record) const {
  record.problem = fields.problem;
  if (!record.problem.empty()) return;
  if (fields.fields.size() != field_count_) {
    record.problem = "has " + std::to_string(fields.fields.size()) + " fields, expected " +
                     std::to_string(field_count_);
    return;
  }
  record.label = 0;
  if (label_field_) {
    const std::string_view text = fields.fields[*label_field_];
    const Result<float> label = labels_.Parse(IsMissing(text) ? std::string_view() : text);
    if (!label.ok()) {
      record.problem = label.status().message();
      return;
    }
    record.label = *label;
  }
  record.texts.resize(wanted_fields_.size());
  for (std::size_t i = 0; i < wanted_fields_.size(); ++i) {
    const std::string_view text = fields.fields[wanted_fields_[i]];
    record.texts[i] = IsMissing(text) ? std::string_view() : text;
  }
  if (!fingerprint_) return;
  record.fingerprint = kFingerprintSeed;
  for (const std::string_view text : fields.fields) {
    record.fingerprint = CombineFingerprints(record.fingerprint, Fingerprint(text));
  }
}

}  // namespace pstrain
