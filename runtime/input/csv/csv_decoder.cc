#include "runtime/input/csv/csv_decoder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/features/fingerprint.h"
#include "runtime/features/number.h"
#include "runtime/input/record_scanner.h"

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

CsvFormat FormatOf(const CsvInput& input) {
  return {input.delimiter().empty() ? ',' : input.delimiter().front(), input.trim_whitespace()};
}

Result<std::vector<std::string>> ColumnsOf(const CsvInput& input, const std::string& name,
                                           const std::string& text) {
  std::vector<std::string> columns(input.columns().begin(), input.columns().end());
  if (!input.header()) {
    if (columns.empty()) {
      return InvalidArgumentError("input.csv: columns are required without a header");
    }
    return columns;
  }
  PSTRAIN_ASSIGN_OR_RETURN(RecordScanner scanner, RecordScanner::Open(name, text, FormatOf(input)));
  CsvRecord record;
  PSTRAIN_ASSIGN_OR_RETURN(const bool found, scanner.Next(record));
  if (!found) return InvalidArgumentError(name + ": has no header");
  const std::vector<std::string> header(record.fields.begin(), record.fields.end());
  const std::string place = name + ":" + std::to_string(record.line);
  if (!columns.empty() && columns != header) {
    return InvalidArgumentError(place + ": the header differs from input.csv.columns");
  }
  std::set<std::string> seen;
  for (const std::string& column : header) {
    if (!seen.insert(column).second) {
      return InvalidArgumentError(place + ": the header names column \"" + column + "\" twice");
    }
  }
  return header;
}

Result<CsvDecoder> CsvDecoder::Create(const CsvInput& input,
                                      std::shared_ptr<const FeatureSet> features,
                                      const std::vector<std::string>& columns) {
  CsvDecoder decoder;
  decoder.field_count_ = columns.size();
  decoder.label_name_ = input.label_column();
  decoder.missing_ = input.missing();
  PSTRAIN_ASSIGN_OR_RETURN(decoder.label_field_,
                           FieldOf(columns, input.label_column(), "input.csv.labelColumn"));
  for (const std::string& ignored : input.ignore_columns()) {
    PSTRAIN_ASSIGN_OR_RETURN([[maybe_unused]] const std::size_t position,
                             FieldOf(columns, ignored, "input.csv.ignoreColumns"));
  }
  for (const std::string& column : features->columns()) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::size_t position,
                             FieldOf(columns, column, "model features"));
    if (position == decoder.label_field_) {
      return InvalidArgumentError("model features: column \"" + column + "\" is the label");
    }
    const auto& ignored = input.ignore_columns();
    if (std::find(ignored.begin(), ignored.end(), column) != ignored.end()) {
      return InvalidArgumentError("model features: column \"" + column + "\" is ignored");
    }
    decoder.feature_fields_.push_back(position);
  }
  for (const auto& [text, number] : input.label_map()) {
    if (!(number >= 0 && number <= 1)) {
      return InvalidArgumentError("input.csv.labelMap: \"" + text +
                                  "\" must be a number between 0 and 1");
    }
    decoder.label_map_.emplace(text, static_cast<float>(number));
  }
  decoder.texts_.resize(decoder.feature_fields_.size());
  decoder.features_ = std::move(features);
  return decoder;
}

Result<float> CsvDecoder::Label(std::string_view text) const {
  const std::string column = "column " + label_name_ + ": ";
  if (IsMissing(text)) return InvalidArgumentError(column + "the label is missing");
  if (!label_map_.empty()) {
    const auto found = label_map_.find(std::string(text));
    if (found == label_map_.end()) {
      return InvalidArgumentError(column + "unknown label \"" + std::string(text) +
                                  "\", not in csv.labelMap");
    }
    return found->second;
  }
  const Result<double> number = ParseNumber(text);
  if (!number.ok()) return number.status().WithContext("column " + label_name_);
  if (!(*number >= 0 && *number <= 1)) {
    return InvalidArgumentError(column + "label " + std::string(text) + " is not between 0 and 1");
  }
  return static_cast<float>(*number);
}

Status CsvDecoder::Append(const CsvRecord& record, Batch& batch) {
  if (!record.problem.empty()) return InvalidArgumentError(std::string(record.problem));
  if (record.fields.size() != field_count_) {
    return InvalidArgumentError("has " + std::to_string(record.fields.size()) +
                                " fields, expected " + std::to_string(field_count_));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const float label, Label(record.fields[label_field_]));
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::string_view text = record.fields[feature_fields_[i]];
    texts_[i] = IsMissing(text) ? std::string_view() : text;
  }
  PSTRAIN_RETURN_IF_ERROR(features_->Append(texts_, batch));
  batch.labels.push_back(label);
  if (features_->wants_fingerprints()) {
    std::uint64_t fingerprint = kFingerprintSeed;
    for (const std::string_view text : record.fields) {
      fingerprint = CombineFingerprints(fingerprint, Fingerprint(text));
    }
    batch.fingerprints.push_back(fingerprint);
  }
  ++batch.records;
  return OkStatus();
}

}  // namespace pstrain
