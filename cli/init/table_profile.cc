#include "cli/init/table_profile.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text/utf8.h"
#include "local/preflight/csv_table.h"
#include "local/preflight/texts.h"
#include "runtime/features/number.h"

namespace pstrain {
namespace {

using preflight::CsvRow;
using preflight::FileSample;
using preflight::Listed;
using preflight::Quoted;

/// Records by which the delimiter is found out.
constexpr std::size_t kFirstRecords = 100;
constexpr std::array kDelimiters = {',', ';', '\t', '|'};
/// What people write for a value that they do not know.
constexpr std::array<std::string_view, 12> kMissingTexts = {
    "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "-", "\\N"};
/// As the product's default of maxBadRecordFraction.
constexpr std::uint64_t kRecordsPerBadOne = 100;
/// As the rules of CsvInput.
constexpr std::size_t kMostColumns = 4096;
constexpr std::size_t kLongestName = 256;

std::string NameOf(char delimiter) {
  return delimiter == '\t' ? std::string("a tab") : "\"" + std::string(1, delimiter) + "\"";
}

/// How many fields the records have when split at `delimiter`; 0 when they do not agree.
Result<std::size_t> FieldsAt(const FileSample& sample, char delimiter) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CsvRow> rows,
                           preflight::ReadRows(sample, {.delimiter = delimiter}, kFirstRecords));
  if (rows.empty()) return std::size_t{0};
  const std::size_t fields = rows.front().fields.size();
  const auto agree =
      static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [fields](const CsvRow& row) {
        return row.fields.size() == fields;
      }));
  constexpr std::size_t kTenths = 10;
  return agree * kTenths >= rows.size() * (kTenths - 1) ? fields : 0;
}

Result<char> FindDelimiter(const FileSample& sample, const InitOptions& options) {
  if (options.delimiter) return *options.delimiter;
  char best = ',';
  std::size_t most = 1;
  Status refused;
  for (const char delimiter : kDelimiters) {
    const Result<std::size_t> fields = FieldsAt(sample, delimiter);
    if (!fields.ok()) {
      // A quote that is open at one delimiter may be a letter at another.
      refused = fields.status();
    } else if (*fields > most) {
      most = *fields;
      best = delimiter;
    }
  }
  if (most > 1) return best;
  PSTRAIN_RETURN_IF_ERROR(refused);
  return InvalidArgumentError(sample.name +
                              ": is no table: its records have not the same number of fields, two "
                              "or more, when split at \",\", \";\", a tab or \"|\"; give "
                              "--delimiter, or correct the file");
}

/// What is wrong with the names of columns, wherever they come from; empty when nothing is.
std::string NamesProblem(const std::vector<std::string>& names) {
  if (names.size() > kMostColumns) {
    return std::to_string(names.size()) + " columns are more than the " +
           std::to_string(kMostColumns) + " that a job may have; leave some out of the file";
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name.empty()) {
      return "column " + std::to_string(i + 1) +
             " has no name; name it, or give the names by --columns and take this line out";
    }
    if (name.size() > kLongestName) {
      return "the name of column " + std::to_string(i + 1) + ", " + Quoted(name) +
             ", has more than " + std::to_string(kLongestName) + " bytes; shorten it";
    }
    if (std::any_of(name.begin(), name.end(),
                    [](char c) { return static_cast<unsigned char>(c) < ' '; })) {
      return "the name of column " + std::to_string(i + 1) + ", " + Quoted(name) +
             ", has a line end or another control character; rename it";
    }
    if (!seen.insert(name).second) {
      return "two columns are named " + Quoted(name) + "; rename one of them";
    }
  }
  return {};
}

/// `--columns c1,c2,c3`, for a person to change.
std::string ColumnsProposed(std::size_t count) {
  constexpr std::size_t kMost = 6;
  std::string text = "--columns ";
  for (std::size_t i = 1; i <= std::min(count, kMost); ++i) {
    text += (i == 1 ? "c" : ",c") + std::to_string(i);
  }
  return text + (count > kMost ? ",... (" + std::to_string(count) + " names)" : "");
}

Result<std::vector<std::string>> ColumnNames(const FileSample& sample, const CsvRow& first,
                                             const InitOptions& options) {
  const std::string place = preflight::Place(sample, first);
  const std::size_t fields = first.fields.size();
  if (!options.columns.empty()) {
    if (options.columns.size() != fields) {
      return InvalidArgumentError(place + " has " + std::to_string(fields) +
                                  " fields, and --columns names " +
                                  std::to_string(options.columns.size()));
    }
    if (first.fields == options.columns && !options.header) {
      return InvalidArgumentError(place + ": is a header with these names; leave --columns out");
    }
    const std::string problem = NamesProblem(options.columns);
    if (!problem.empty()) return InvalidArgumentError("--columns: " + problem);
    return options.columns;
  }
  const std::string problem = NamesProblem(first.fields);
  if (!problem.empty()) return InvalidArgumentError(place + ": " + problem);
  if (options.header) return first.fields;
  for (const std::string& field : first.fields) {
    if (!ParseNumber(field).ok()) continue;
    return InvalidArgumentError(place + ": " + Quoted(field) +
                                " looks like data, not like a column's name; name the "
                                "columns by " +
                                ColumnsProposed(fields) + ", or give --header if this line is one");
  }
  return first.fields;
}

Result<std::size_t> FindColumn(const std::vector<std::string>& columns, const std::string& name,
                               const std::string& option, const std::string& file) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  return InvalidArgumentError(option + " " + name + ": " + file + " has no column " + Quoted(name) +
                              preflight::DidYouMean(name, columns) + "; it has " + Listed(columns));
}

bool IsMissingText(std::string_view text) {
  return std::find(kMissingTexts.begin(), kMissingTexts.end(), text) != kMissingTexts.end();
}

/// The text that most values are marked missing by: one that people use for it, or the only one
/// among numbers. A label may be "-".
std::string FindMissing(const TableProfile& table) {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i == table.label) continue;
    const ColumnProfile& column = table.columns[i];
    const bool mostly_numbers = 2 * column.numbers() > column.values();
    const auto odd = column.OddTexts();
    for (const auto& [text, count] : odd) {
      const bool only_one = mostly_numbers && odd.size() == 1 && count > 1;
      if (only_one || IsMissingText(text)) counts[text] += count;
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::string() : most->first;
}

/// Finds out what marks a missing value, and takes it out; records without a label are bad ones.
void TakeMissing(const InitOptions& options, TableProfile& table) {
  table.missing = options.missing ? *options.missing : FindMissing(table);
  for (ColumnProfile& column : table.columns) column.TakeMissing(table.missing);
  const std::uint64_t unlabelled = table.Label().empty();
  if (unlabelled == 0) return;
  table.bad += unlabelled;
  table.records -= unlabelled;
  if (table.first_bad.empty()) {
    table.first_bad = "column " + table.Label().name() + " has " + Quoted(table.missing) +
                      ", which marks a missing value; --missing may say otherwise";
  }
}

/// Reads the records behind the header.
class TableReader {
 public:
  TableReader(const FileSample& sample, TableProfile& table, const InitOptions& options)
      : sample_(sample), table_(table), missing_(options.missing) {}

  Status Read() {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    std::string_view text = sample_.text;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const CsvFormat format{.delimiter = table_.delimiter};
    CsvCursor cursor;
    CsvRecord record;
    for (bool first = true;; first = false) {
      const CsvStep step = NextCsvRecord(format, text, !sample_.cut, cursor, record);
      if (step == CsvStep::kOpenQuote) {
        return InvalidArgumentError(sample_.name + ":" + std::to_string(record.line) +
                                    ": a quoted field is not closed; close it, or double a quote "
                                    "that is part of the text");
      }
      if (step != CsvStep::kRecord) return OkStatus();
      if (!first || !table_.header) Add(record);
    }
  }

 private:
  void Add(const CsvRecord& record) {
    const std::size_t fields = record.fields.size();
    const std::string problem =
        !record.problem.empty()           ? std::string(record.problem)
        : fields != table_.columns.size() ? std::to_string(fields) + " fields where there are " +
                                                std::to_string(table_.columns.size()) + " columns"
        : record.fields[table_.label].empty() || record.fields[table_.label] == missing_
            ? std::string("the label is missing")
            : std::string();
    if (!problem.empty()) {
      ++table_.bad;
      if (table_.first_bad.empty()) {
        table_.first_bad = sample_.name + ":" + std::to_string(record.line) + ": " + problem;
      }
      return;
    }
    ++table_.records;
    for (std::size_t i = 0; i < fields; ++i) table_.columns[i].Add(record.fields[i]);
  }

  const FileSample& sample_;
  TableProfile& table_;
  const std::optional<std::string>& missing_;
};

Status CheckRecords(const FileSample& sample, const TableProfile& table) {
  if (table.records == 0 && table.bad == 0) {
    return InvalidArgumentError(sample.name + ": the file has a header and no records");
  }
  if (table.bad * kRecordsPerBadOne <= table.records + table.bad) return OkStatus();
  return InvalidArgumentError(table.first_bad + "; " + std::to_string(table.bad) + " of " +
                              std::to_string(table.records + table.bad) +
                              " records are so, which is more than 1 %; correct the file");
}

/// The texts that are not UTF-8 cannot stand in a manifest.
Status CheckText(const FileSample& sample) {
  if (sample.text.find('\0') != std::string::npos) {
    return InvalidArgumentError(sample.name + ": is no text file; write the table as CSV");
  }
  // The end of a sample may cut a character.
  constexpr std::size_t kLongestCharacter = 4;
  const std::size_t end = sample.cut
                              ? sample.text.size() - std::min(sample.text.size(), kLongestCharacter)
                              : sample.text.size();
  const std::string_view whole = Utf8Prefix(sample.text, end);
  std::size_t line = 1;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t length = Utf8SequenceLength(whole.substr(at));
    if (length == 0) {
      return InvalidArgumentError(sample.name + ":" + std::to_string(line) +
                                  ": is not UTF-8; convert the file, for instance by iconv -f "
                                  "latin1 -t utf-8");
    }
    if (whole[at] == '\n') ++line;
    at += length;
  }
  return OkStatus();
}

}  // namespace

Result<TableProfile> ProfileTable(const FileSample& sample, const InitOptions& options) {
  PSTRAIN_RETURN_IF_ERROR(CheckText(sample));
  TableProfile table;
  table.cut = sample.cut;
  PSTRAIN_ASSIGN_OR_RETURN(table.delimiter, FindDelimiter(sample, options));
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CsvRow> rows,
                           preflight::ReadRows(sample, {.delimiter = table.delimiter}, 1));
  if (rows.empty()) {
    return InvalidArgumentError(
        sample.name + (sample.cut ? ": its first line is too long" : ": the file has no records"));
  }
  const CsvRow& first = rows.front();
  if (first.fields.size() == 1) {
    return InvalidArgumentError(preflight::Place(sample, first) + ": is one field when split at " +
                                NameOf(table.delimiter) + "; give another --delimiter");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           ColumnNames(sample, first, options));
  table.header = options.columns.empty() || options.header;
  PSTRAIN_ASSIGN_OR_RETURN(table.label, FindColumn(names, options.label, "--label", sample.name));
  for (const auto& [option, columns] :
       {std::pair("--ignore", &options.ignore), std::pair("--category", &options.categories)}) {
    for (const std::string& column : *columns) {
      PSTRAIN_RETURN_IF_ERROR(FindColumn(names, column, option, sample.name).status());
    }
  }
  for (const std::string& name : names) table.columns.emplace_back(name);
  PSTRAIN_RETURN_IF_ERROR(TableReader(sample, table, options).Read());
  PSTRAIN_RETURN_IF_ERROR(CheckRecords(sample, table));
  TakeMissing(options, table);
  PSTRAIN_RETURN_IF_ERROR(CheckRecords(sample, table));
  return table;
}

}  // namespace pstrain
