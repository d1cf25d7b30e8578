#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/input/csv/csv_splitter.h"
#include "runtime/input/label_parser.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// Picks the fields of CSV records that a layout wants. Immutable; any thread may use it.
class CsvDecoder {
 public:
  /// `columns`: names in file order. INVALID_ARGUMENT when the label column (where labels are
  /// required), an ignored column or a wanted one is not among them, or the label or an ignored
  /// column is wanted.
  static Result<CsvDecoder> Create(const CsvInput& input, const std::vector<std::string>& columns,
                                   const RecordLayout& layout);

  /// `record` points into `fields` afterwards. Its problem is a wrong number of fields, text after
  /// a closing quote, an unknown or missing label.
  void Decode(const CsvRecord& fields, Record& record) const;

 private:
  explicit CsvDecoder(LabelParser labels) : labels_(std::move(labels)) {}
  bool IsMissing(std::string_view text) const { return text.empty() || text == missing_; }

  LabelParser labels_;
  std::size_t field_count_ = 0;
  /// Nothing: labels are ignored.
  std::optional<std::size_t> label_field_;
  /// Field of each column of the layout.
  std::vector<std::size_t> wanted_fields_;
  std::string missing_;
  bool fingerprint_ = false;
};

}  // namespace pstrain
