#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text/edit_distance.h"
#include "local/preflight/csv_table.h"
#include "local/preflight/texts.h"
#include "runtime/features/number.h"

namespace pstrain::preflight {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// A column that the job names, and what for.
struct Wanted {
  std::string column;
  std::string by;
};

std::vector<Wanted> WantedColumns(const CsvInput& input, const Training& training) {
  std::vector<Wanted> wanted = {{input.label_column(), "labelColumn"}};
  for (const Feature& feature : training.features()) {
    if (feature.has_crossed()) continue;
    wanted.push_back({feature.column().empty() ? feature.name() : feature.column(),
                      "feature " + feature.name()});
  }
  for (const std::string& column : input.ignore_columns()) {
    wanted.push_back({column, "ignoreColumns"});
  }
  return wanted;
}

std::size_t Known(const std::vector<Wanted>& wanted, const std::vector<std::string>& columns) {
  return static_cast<std::size_t>(
      std::count_if(wanted.begin(), wanted.end(),
                    [&columns](const Wanted& one) { return Contains(columns, one.column); }));
}

std::size_t Numbers(const std::vector<std::string>& fields) {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(),
                    [](const std::string& field) { return ParseNumber(field).ok(); }));
}

std::string Fields(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " field" : " fields");
}

/// The delimiter that takes the first line apart as the job wants it, where its own does not.
std::string AboutDelimiter(const CsvInput& input, const std::vector<Wanted>& wanted,
                           const FileSample& sample, const CsvRow& first) {
  constexpr std::array kDelimiters = {',', ';', '\t', '|', ' '};
  const CsvFormat own = FormatOf(input);
  for (const char delimiter : kDelimiters) {
    if (delimiter == own.delimiter) continue;
    const Result<std::vector<CsvRow>> rows = ReadRows(sample, {delimiter, own.trim_whitespace}, 1);
    if (!rows.ok() || rows->empty()) continue;
    const std::vector<std::string>& fields = rows->front().fields;
    const bool fits = input.header()
                          ? Known(wanted, fields) > Known(wanted, first.fields)
                          : fields.size() == static_cast<std::size_t>(input.columns_size());
    if (!fits) continue;
    const std::string split = Quoted(std::string(1, delimiter));
    return sample.name + ": the " + (input.header() ? "header" : "first line") + " has " +
           Fields(first.fields.size()) + " when split at " + Quoted(std::string(1, own.delimiter)) +
           "; " + std::to_string(fields.size()) + " at " + split + ": set delimiter: " + split;
  }
  return {};
}

/// Without a header: the first line has the names.
std::string HeaderTakenForData(const CsvInput& input, const FileSample& sample,
                               const CsvRow& first) {
  std::size_t same = 0;
  for (const auto& field : first.fields) {
    const bool listed =
        std::any_of(input.columns().begin(), input.columns().end(),
                    [&](const std::string& column) { return EditDistance(column, field) == 0; });
    if (listed) ++same;
  }
  if (same == 0 || 2 * same < first.fields.size()) return {};
  return Place(sample, first) +
         ": the first line holds the column names but would be read as a record; set header: true";
}

/// With a header: the first line has values.
std::string DataTakenForHeader(const std::vector<Wanted>& wanted, const FileSample& sample,
                               const CsvRow& first) {
  if (Known(wanted, first.fields) > 0 || Numbers(first.fields) == 0) return {};
  return Place(sample, first) + ": the first line looks like a record (" + Listed(first.fields, 6) +
         ") but would be read as the header; remove header: true and list columns";
}

/// Where the header differs from the columns that the job lists.
std::string DiffersFromListed(const CsvInput& input, const FileSample& sample,
                              const CsvRow& first) {
  const std::vector<std::string> listed(input.columns().begin(), input.columns().end());
  if (listed.empty() || listed == first.fields) return {};
  std::size_t at = 0;
  while (at < listed.size() && at < first.fields.size() && listed[at] == first.fields[at]) ++at;
  const auto name = [at](const std::vector<std::string>& names) {
    return at < names.size() ? Quoted(names[at]) : std::string("nothing");
  };
  return Place(sample, first) + ": field " + std::to_string(at + 1) + " of the header is " +
         name(first.fields) + ", and columns has " + name(listed) +
         "; correct columns, or remove them: the header has the names";
}

std::string NamedTwice(const FileSample& sample, const CsvRow& first) {
  std::set<std::string> seen;
  for (const std::string& column : first.fields) {
    if (seen.insert(column).second) continue;
    return Place(sample, first) + ": the header names column " + Quoted(column) + " twice";
  }
  return {};
}

std::vector<std::string> Absent(const std::vector<Wanted>& wanted, const FileSample& sample,
                                const std::vector<std::string>& columns) {
  std::vector<std::string> findings;
  for (const Wanted& one : wanted) {
    if (Contains(columns, one.column)) continue;
    findings.push_back(one.by + ": " + sample.name + " has no column " + Quoted(one.column) +
                       DidYouMean(one.column, columns) + "; it has " + Listed(columns));
  }
  return findings;
}

std::vector<std::string> OneOrNone(std::string finding) {
  return finding.empty() ? std::vector<std::string>() : std::vector{std::move(finding)};
}

}  // namespace

std::vector<std::string> CheckColumns(const CsvInput& input, const Training& training,
                                      const FileSample& sample, const CsvRow& first,
                                      std::vector<std::string>& columns) {
  const std::vector<Wanted> wanted = WantedColumns(input, training);
  if (input.header()) {
    columns = first.fields;
    if (Known(wanted, columns) < wanted.size()) {
      std::string finding = AboutDelimiter(input, wanted, sample, first);
      if (finding.empty()) finding = DataTakenForHeader(wanted, sample, first);
      if (!finding.empty()) return {std::move(finding)};
    }
    std::vector<std::string> findings = OneOrNone(DiffersFromListed(input, sample, first));
    if (findings.empty()) findings = OneOrNone(NamedTwice(sample, first));
    return findings.empty() ? Absent(wanted, sample, columns) : findings;
  }
  columns.assign(input.columns().begin(), input.columns().end());
  std::vector<std::string> findings = OneOrNone(HeaderTakenForData(input, sample, first));
  if (!findings.empty() || first.fields.size() == columns.size()) return findings;
  return OneOrNone(AboutDelimiter(input, wanted, sample, first));
}

}  // namespace pstrain::preflight
