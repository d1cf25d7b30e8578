#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/status.h"
#include "runtime/input/csv/csv_splitter.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// In front of a record of a CSV file.
struct TextPosition {
  std::uint64_t offset = 0;
  /// Line number there, from 1.
  std::uint64_t line = 1;
};

/// Reads the records of one plain text file in order, from any position in front of a record.
/// Movable; one thread at a time.
class CsvReader {
 public:
  /// `name` is the file as messages call it. At the start of the file a UTF-8 byte order mark is
  /// passed over.
  static Result<CsvReader> Open(std::string name, const std::filesystem::path& text,
                                const CsvFormat& format, TextPosition from = {});

  /// False at the end of the file. The record is valid until the next call. INVALID_ARGUMENT: a
  /// quoted field is not closed, or a record is longer than 64 MiB.
  Result<bool> Next(CsvRecord& record);

  /// In front of the next record, or of empty lines before it.
  TextPosition position() const {
    return {base_ + static_cast<std::uint64_t>(cursor_.offset), cursor_.line};
  }
  /// The bytes up to the end of the last record, since the last call or Open.
  PassedBytes TakePassed();
  const std::string& name() const { return name_; }

 private:
  CsvReader() = default;
  Status Refill();
  /// Brings `passed_` up to the end of the last record.
  void Pass();

  std::string name_;
  CsvFormat format_;
  std::ifstream file_;
  /// The text from `base_` on; the cursor is within it.
  std::string buffer_;
  std::uint64_t base_ = 0;
  CsvCursor cursor_;
  /// Offset in the buffer behind the record that Next returned last.
  std::size_t record_end_ = 0;
  PassedBytes passed_;
  bool at_end_ = false;
};

}  // namespace pstrain
