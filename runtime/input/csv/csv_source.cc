#include "runtime/input/csv/csv_source.h"

#include <optional>
#include <set>
#include <utility>

#include "runtime/input/csv/csv_decoder.h"
#include "runtime/input/csv/csv_reader.h"
#include "runtime/input/record_position.h"

namespace pstrain {
namespace {

CsvFormat FormatOf(const CsvInput& input) {
  return {input.delimiter().empty() ? ',' : input.delimiter().front(), input.trim_whitespace()};
}

/// In front of the first record, behind the header.
Result<CsvReader> OpenFirst(const CsvInput& input, const InputFile& file, CsvRecord& scratch) {
  PSTRAIN_ASSIGN_OR_RETURN(CsvReader reader,
                           CsvReader::Open(file.name, file.plain, FormatOf(input)));
  if (input.header()) {
    PSTRAIN_ASSIGN_OR_RETURN([[maybe_unused]] const bool found, reader.Next(scratch));
  }
  reader.TakePassed();
  return reader;
}

class CsvScanner final : public RecordScanner {
 public:
  explicit CsvScanner(CsvReader reader) : reader_(std::move(reader)) {}

  Result<bool> Next() override { return reader_.Next(record_); }
  RecordPosition Position() const override {
    const TextPosition position = reader_.position();
    return EncodePosition({position.offset, position.line});
  }
  PassedBytes TakePassed() override { return reader_.TakePassed(); }

 private:
  CsvReader reader_;
  CsvRecord record_;
};

class CsvRecordDecoder final : public RecordDecoder {
 public:
  CsvRecordDecoder(CsvInput input, CsvDecoder decoder)
      : input_(std::move(input)), decoder_(std::move(decoder)) {}

  Status Seek(const InputFile& file, const RecordPosition& from) override {
    reader_.reset();
    if (from.empty()) {
      PSTRAIN_ASSIGN_OR_RETURN(CsvReader reader, OpenFirst(input_, file, fields_));
      reader_.emplace(std::move(reader));
      return OkStatus();
    }
    PSTRAIN_ASSIGN_OR_RETURN(const NumberedOffset position, DecodePosition(file.name, from));
    PSTRAIN_ASSIGN_OR_RETURN(CsvReader reader,
                             CsvReader::Open(file.name, file.plain, FormatOf(input_),
                                             {position.offset, position.number}));
    reader_.emplace(std::move(reader));
    return OkStatus();
  }

  Result<bool> Skip() override { return reader_->Next(fields_); }

  Result<bool> Next(Record& record) override {
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, reader_->Next(fields_));
    if (found) decoder_.Decode(fields_, record);
    return found;
  }

  PassedBytes TakePassed() override { return reader_->TakePassed(); }

  std::string Where() const override {
    return reader_->name() + ":" + std::to_string(fields_.line);
  }

 private:
  CsvInput input_;
  CsvDecoder decoder_;
  std::optional<CsvReader> reader_;
  CsvRecord fields_;
};

class CsvSource final : public RecordSource {
 public:
  explicit CsvSource(CsvInput input) : input_(std::move(input)) {}

  Result<std::vector<std::string>> Columns(const InputFile& file) const override {
    std::vector<std::string> columns(input_.columns().begin(), input_.columns().end());
    if (input_.header()) return Header(file, columns);
    if (columns.empty()) {
      return InvalidArgumentError("input.csv: columns are required without a header");
    }
    return columns;
  }

  Result<std::unique_ptr<RecordScanner>> Scan(const InputFile& file) const override {
    CsvRecord scratch;
    PSTRAIN_ASSIGN_OR_RETURN(CsvReader reader, OpenFirst(input_, file, scratch));
    return std::unique_ptr<RecordScanner>(std::make_unique<CsvScanner>(std::move(reader)));
  }

  Result<std::unique_ptr<RecordDecoder>> Decode(const std::vector<std::string>& columns,
                                                const RecordLayout& layout) const override {
    PSTRAIN_ASSIGN_OR_RETURN(CsvDecoder decoder, CsvDecoder::Create(input_, columns, layout));
    return std::unique_ptr<RecordDecoder>(
        std::make_unique<CsvRecordDecoder>(input_, std::move(decoder)));
  }

 private:
  /// INVALID_ARGUMENT: no header, one that differs from `listed`, or a column twice.
  Result<std::vector<std::string>> Header(const InputFile& file,
                                          const std::vector<std::string>& listed) const {
    PSTRAIN_ASSIGN_OR_RETURN(CsvReader reader,
                             CsvReader::Open(file.name, file.plain, FormatOf(input_)));
    CsvRecord record;
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, reader.Next(record));
    if (!found) return InvalidArgumentError(file.name + ": has no header");
    const std::vector<std::string> header(record.fields.begin(), record.fields.end());
    const std::string place = file.name + ":" + std::to_string(record.line);
    // Without its label a file can still be scored; who needs labels misses the column by its name.
    std::vector<std::string> unlabelled = listed;
    std::erase(unlabelled, input_.label_column());
    if (!listed.empty() && header != listed && header != unlabelled) {
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

  CsvInput input_;
};

}  // namespace

std::unique_ptr<RecordSource> CreateCsvSource(const Input& input) {
  return std::make_unique<CsvSource>(input.csv());
}

}  // namespace pstrain
