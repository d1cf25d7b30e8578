#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace pstrain {

/// Takes the records of a CSV text apart, without I/O and without state of its own: any thread, one
/// at a time for one cursor and record.

/// How fields are set apart (spec.training.input.csv).
struct CsvFormat {
  char delimiter = ',';
  /// Spaces and tabs around a field (outside its quotes) are no part of it.
  bool trim_whitespace = true;
};

/// One record, taken apart. The fields point into the text that it came from or into `unquoted`.
struct CsvRecord {
  CsvRecord() = default;
  CsvRecord(const CsvRecord&) = delete;
  CsvRecord& operator=(const CsvRecord&) = delete;

  std::vector<std::string_view> fields;
  /// Line of its first character, from 1.
  std::uint64_t line = 0;
  /// What is wrong with its form; empty when nothing is.
  std::string_view problem;
  /// Texts of the fields that had doubled quotes.
  std::deque<std::string> unquoted;
};

/// What the text had at the cursor.
enum class CsvStep : std::uint8_t {
  kRecord,
  /// The text ends within a record and more of it is to come.
  kNeedMore,
  /// Only empty lines were left.
  kEnd,
  /// The text is over within a quoted field.
  kOpenQuote,
};

/// Where a text has been read to.
struct CsvCursor {
  std::size_t offset = 0;
  std::uint64_t line = 1;
};

/// Takes the record at the cursor off the text (RFC 4180: fields in double quotes may hold
/// delimiters, line ends and doubled quotes). Lines end in LF or CR LF, the last one need not;
/// empty lines are not records. `at_end`: nothing follows `text`. The cursor moves past the record,
/// on kNeedMore at most past empty lines.
CsvStep NextCsvRecord(const CsvFormat& format, std::string_view text, bool at_end,
                      CsvCursor& cursor, CsvRecord& record);

}  // namespace pstrain
