#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "local/preflight/file_sample.h"
#include "proto/job/psjob.pb.h"
#include "runtime/input/csv/csv_splitter.h"

namespace pstrain::preflight {

/// The CSV part of the preflight: a sample's records, and what is wrong with its columns and
/// values. Pure but for CsvValues; any thread.

/// One record of a sample, in texts of its own.
struct CsvRow {
  std::vector<std::string> fields;
  std::uint64_t line = 0;
};

/// The format that the job says.
CsvFormat FormatOf(const CsvInput& input);

/// The first `most` records of a sample, the header line included. A record that the end of a
/// sample cuts is left out. INVALID_ARGUMENT: a quoted field is not closed in a file that was seen
/// to its end.
Result<std::vector<CsvRow>> ReadRows(const FileSample& sample, const CsvFormat& format,
                                     std::size_t most);

/// "line 3 of data.csv", as every message names a place: `data.csv:3`.
std::string Place(const FileSample& sample, const CsvRow& row);

/// What is wrong with the names of the columns of `sample`, whose first row is `first`: the
/// delimiter, a header where none is said and the reverse, columns that the job names and the file
/// does not have. `columns`: takes the names in file order when nothing is.
std::vector<std::string> CheckColumns(const CsvInput& input, const Training& training,
                                      const FileSample& sample, const CsvRow& first,
                                      std::vector<std::string>& columns);

/// What is wrong with the values of columns, looked at over many records. One thread at a time.
class CsvValues {
 public:
  CsvValues(const CsvInput& input, const Training& training, std::vector<std::string> columns);

  /// REQUIRES: as many fields as columns.
  void Add(const std::string& place, const CsvRow& row);
  /// Findings of columns whose values are not what the job says, not of single records.
  std::vector<std::string> Findings() const;

 private:
  /// Of one text that stands where a number, or another label, belongs.
  struct Odd {
    std::string text;
    std::string place;
    std::size_t count = 0;
  };
  struct NumberColumn {
    std::string column;
    std::string feature;
    std::size_t field = 0;
    std::size_t values = 0;
    std::size_t odd = 0;
    std::vector<Odd> texts;
  };
  bool IsMissing(const std::string& text) const;
  std::string OfNumbers(const NumberColumn& column) const;
  std::string OfLabels() const;
  std::string UnknownLabel() const;

  const CsvInput& input_;
  std::size_t label_field_ = 0;
  std::vector<NumberColumn> numbers_;
  std::vector<Odd> labels_;
  std::size_t labels_seen_ = 0;
  std::size_t labels_good_ = 0;
};

}  // namespace pstrain::preflight
