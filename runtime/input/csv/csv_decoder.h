#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/input/csv/csv_splitter.h"

namespace pstrain {

/// Turns the fields of CSV records into typed values. Thread-compatible.
class CsvDecoder {
 public:
  /// `columns`: names in file order. INVALID_ARGUMENT when the label column, an ignored column or a
  /// feature's column is not among them, or a feature reads the label or an ignored column.
  static Result<CsvDecoder> Create(const CsvInput& input,
                                   std::shared_ptr<const FeatureSet> features,
                                   const std::vector<std::string>& columns);

  /// Appends one record. INVALID_ARGUMENT says what is wrong with the record, without file and
  /// line, and leaves the batch as it was: wrong number of fields, a value that is not a number, an
  /// unknown or missing label.
  Status Append(const CsvRecord& record, Batch& batch);

  const FeatureSet& features() const { return *features_; }

 private:
  CsvDecoder() = default;
  Result<float> Label(std::string_view text) const;
  bool IsMissing(std::string_view text) const { return text.empty() || text == missing_; }

  std::shared_ptr<const FeatureSet> features_;
  std::size_t field_count_ = 0;
  std::size_t label_field_ = 0;
  /// Field of each of features_->columns().
  std::vector<std::size_t> feature_fields_;
  std::string label_name_;
  std::string missing_;
  std::unordered_map<std::string, float> label_map_;
  /// Texts of the current record, parallel to feature_fields_; kept to spare allocations.
  std::vector<std::string_view> texts_;
};

/// How the files of an input are to be split.
CsvFormat FormatOf(const CsvInput& input);

/// The names of the columns of an input: from the job, or from the header of `text` (file `name`).
/// INVALID_ARGUMENT: neither, the two differ, or a header that names a column twice.
Result<std::vector<std::string>> ColumnsOf(const CsvInput& input, const std::string& name,
                                           const std::string& text);

}  // namespace pstrain
