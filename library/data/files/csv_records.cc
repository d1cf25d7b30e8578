#include "library/data/files/csv_records.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text/parse_number.h"
#include "library/data/files/file_inputs.h"
#include "library/data/files/indexed_files.h"
#include "library/data/files/record_cursor.h"
#include "runtime/input/csv/csv_reader.h"

namespace pstrain::program {
namespace {

/// A column of the elements, and which field of a record it is.
struct Selected {
  CsvColumn column;
  std::size_t field = 0;
};

/// What all cursors share. Immutable.
struct Layout {
  CsvFormat format;
  bool header = true;
  std::string missing;
  std::size_t fields = 0;
  std::vector<Selected> selected;
};

template <typename T>
Result<Tensor> NumberOf(std::string_view text, const char* kind) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  if (const std::optional<T> number = ParseNumber<T>(digits)) return Tensor(*number);
  return InvalidArgumentError("\"" + std::string(text.substr(0, 40)) + "\" is no " + kind);
}

Result<Tensor> ValueOf(const CsvColumn& column, std::string_view text) {
  switch (column.dtype) {
    case DType::kFloat32:
      return NumberOf<float>(text, "float32");
    case DType::kFloat64:
      return NumberOf<double>(text, "float64");
    case DType::kInt32:
      return NumberOf<std::int32_t>(text, "int32");
    case DType::kInt64:
      return NumberOf<std::int64_t>(text, "int64");
    case DType::kBool:
    case DType::kString:
      break;
  }
  return Tensor(std::string(text));
}

class CsvCursorOver final : public RecordCursor {
 public:
  CsvCursorOver(std::shared_ptr<const Layout> layout, CsvReader reader)
      : layout_(std::move(layout)), reader_(std::move(reader)) {}

  NumberedOffset position() const override {
    const TextPosition position = reader_.position();
    return {position.offset, position.line};
  }
  Result<bool> Skip() override {
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, reader_.Next(record_));
    if (!found) return false;
    PSTRAIN_RETURN_IF_ERROR(CheckForm());
    return true;
  }
  Result<std::optional<Element>> Next() override {
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, Skip());
    if (!found) return std::optional<Element>();
    Element element;
    for (const Selected& selected : layout_->selected) {
      Result<Tensor> value = Value(selected.column, record_.fields[selected.field]);
      if (!value.ok())
        return Problem("column " + selected.column.name + ": " + value.status().message());
      element.Set(selected.column.name, *std::move(value));
    }
    return std::optional(std::move(element));
  }

 private:
  Status CheckForm() const {
    if (!record_.problem.empty()) return Problem(std::string(record_.problem));
    if (record_.fields.size() == layout_->fields) return OkStatus();
    return Problem("has " + std::to_string(record_.fields.size()) + " fields, expected " +
                   std::to_string(layout_->fields));
  }
  Result<Tensor> Value(const CsvColumn& column, std::string_view text) const {
    if (!text.empty() && text != layout_->missing) return ValueOf(column, text);
    if (column.default_value) return *column.default_value;
    if (column.dtype == DType::kString) return Tensor(std::string());
    return InvalidArgumentError("the field is missing; give the column a default_value");
  }
  Status Problem(const std::string& what) const {
    return InvalidArgumentError(reader_.name() + ":" + std::to_string(record_.line) + ": " + what);
  }

  const std::shared_ptr<const Layout> layout_;
  CsvReader reader_;
  CsvRecord record_;
};

class CsvRecords final : public RecordFormat {
 public:
  explicit CsvRecords(std::shared_ptr<const Layout> layout) : layout_(std::move(layout)) {}

  Result<std::unique_ptr<RecordCursor>> Open(
      const InputFile& file, const std::optional<NumberedOffset>& from) const override {
    TextPosition position;
    if (from) position = {from->offset, from->number};
    PSTRAIN_ASSIGN_OR_RETURN(CsvReader reader,
                             CsvReader::Open(file.name, file.plain, layout_->format, position));
    if (!from && layout_->header) {
      CsvRecord names;
      PSTRAIN_ASSIGN_OR_RETURN([[maybe_unused]] const bool found, reader.Next(names));
    }
    return std::unique_ptr<RecordCursor>(
        std::make_unique<CsvCursorOver>(layout_, std::move(reader)));
  }

 private:
  const std::shared_ptr<const Layout> layout_;
};

Status Check(const CsvColumn& column) {
  const std::string place = "CsvOptions.select: column \"" + column.name + "\"";
  if (column.dtype == DType::kBool) {
    return InvalidArgumentError(place +
                                " is bool; a column is float32, float64, int32, int64 or "
                                "string");
  }
  const std::optional<Tensor>& value = column.default_value;
  if (!value || (value->dtype() == column.dtype && value->shape().is_scalar())) return OkStatus();
  return InvalidArgumentError(place + " is " + DTypeName(column.dtype) +
                              ", and its default_value is " + value->ToString());
}

Result<std::vector<Selected>> Select(const std::vector<CsvColumn>& wanted,
                                     const std::vector<std::string>& columns) {
  std::vector<Selected> selected;
  if (wanted.empty()) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      selected.push_back({{.name = columns[i], .dtype = DType::kString}, i});
    }
    return selected;
  }
  std::set<std::string> seen;
  for (const CsvColumn& column : wanted) {
    PSTRAIN_RETURN_IF_ERROR(Check(column));
    const auto found = std::ranges::find(columns, column.name);
    if (found == columns.end()) {
      return InvalidArgumentError("CsvOptions.select: the files have no column \"" + column.name +
                                  "\"");
    }
    if (!seen.insert(column.name).second) {
      return InvalidArgumentError("CsvOptions.select: column \"" + column.name + "\" is twice");
    }
    selected.push_back({column, static_cast<std::size_t>(found - columns.begin())});
  }
  return selected;
}

Result<Input> InputOf(const std::vector<std::string>& files, const CsvOptions& options) {
  Input input;
  CsvInput* const csv = input.mutable_csv();
  csv->mutable_files()->Assign(files.begin(), files.end());
  csv->set_header(options.header);
  csv->set_delimiter(std::string(1, options.delimiter));
  csv->set_trim_whitespace(options.trim_whitespace);
  csv->set_compression(CompressionOf(options.compression));
  // With a header the two are compared here, for words that fit.
  if (options.header) return input;
  if (options.columns.empty()) {
    return InvalidArgumentError("CsvOptions.columns: without a header it has to name the columns");
  }
  csv->mutable_columns()->Assign(options.columns.begin(), options.columns.end());
  return input;
}

}  // namespace

Result<DataNodePtr> OpenCsv(const std::vector<std::string>& files, const CsvOptions& options) {
  if (files.empty()) return InvalidArgumentError("Csv: no file is named");
  if (std::string_view("\"\r\n").find(options.delimiter) != std::string_view::npos) {
    return InvalidArgumentError("CsvOptions.delimiter is a quote or the end of a line");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Input input, InputOf(files, options));
  PSTRAIN_ASSIGN_OR_RETURN(ScratchDirectory scratch, ScratchDirectory::Create());
  PSTRAIN_ASSIGN_OR_RETURN(const InputFiles opened, OpenInput(input, scratch));
  if (!options.columns.empty() && opened.columns != options.columns) {
    return InvalidArgumentError(files.front() + ": the header differs from CsvOptions.columns");
  }
  auto layout = std::make_shared<Layout>();
  layout->format = {options.delimiter, options.trim_whitespace};
  layout->header = options.header;
  layout->missing = options.missing;
  layout->fields = opened.columns.size();
  PSTRAIN_ASSIGN_OR_RETURN(layout->selected, Select(options.select, opened.columns));
  return OpenIndexedFiles(std::make_unique<CsvRecords>(std::move(layout)), opened.files,
                          std::move(scratch));
}

}  // namespace pstrain::program
