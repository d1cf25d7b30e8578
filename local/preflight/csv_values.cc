#include <algorithm>
#include <utility>

#include "local/preflight/csv_table.h"
#include "local/preflight/texts.h"
#include "runtime/features/number.h"

namespace pstrain::preflight {
namespace {

/// Different texts that are remembered of a column.
constexpr std::size_t kTexts = 20;
/// Up to so many of a thousand values are single records that are wrong, not the column.
constexpr std::size_t kAccidents = 10;

std::size_t FieldOf(const std::vector<std::string>& columns, const std::string& name) {
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) -
                                  columns.begin());
}

bool IsLabel(const std::string& text) {
  const Result<double> number = ParseNumber(text);
  return number.ok() && *number >= 0 && *number <= 1;
}

bool MostAreGood(std::size_t odd, std::size_t all) { return odd * 1000 <= all * kAccidents; }

/// `3,14`: a number in another country's writing.
bool HasDecimalComma(std::string text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return false;
  text[comma] = '.';
  return ParseNumber(text).ok();
}

std::string Pair(const std::string& text, int number) {
  return Quoted(text) + ": " + std::to_string(number);
}

}  // namespace

CsvValues::CsvValues(const CsvInput& input, const Training& training,
                     std::vector<std::string> columns)
    : input_(input), label_field_(FieldOf(columns, input.label_column())) {
  for (const Feature& feature : training.features()) {
    if (!feature.has_numeric()) continue;
    NumberColumn number;
    number.column = feature.column().empty() ? feature.name() : feature.column();
    number.feature = feature.name();
    number.field = FieldOf(columns, number.column);
    const bool seen =
        std::any_of(numbers_.begin(), numbers_.end(),
                    [&number](const NumberColumn& other) { return other.field == number.field; });
    if (!seen) numbers_.push_back(std::move(number));
  }
}

bool CsvValues::IsMissing(const std::string& text) const {
  return text.empty() || text == input_.missing();
}

void CsvValues::Add(const std::string& place, const CsvRow& row) {
  const auto note = [&place](const std::string& text, std::vector<Odd>& odd) {
    const auto found =
        std::find_if(odd.begin(), odd.end(), [&text](const Odd& one) { return one.text == text; });
    if (found != odd.end()) {
      ++found->count;
    } else if (odd.size() <= kTexts) {
      odd.push_back({text, place, 1});
    }
  };
  for (NumberColumn& column : numbers_) {
    const std::string& text = row.fields[column.field];
    if (IsMissing(text)) continue;
    ++column.values;
    if (ParseNumber(text).ok()) continue;
    ++column.odd;
    note(text, column.texts);
  }
  const std::string& label = row.fields[label_field_];
  if (IsMissing(label)) return;
  ++labels_seen_;
  const auto& map = input_.label_map();
  if (map.empty() ? IsLabel(label) : map.contains(label)) ++labels_good_;
  note(label, labels_);
}

std::vector<std::string> CsvValues::Findings() const {
  std::vector<std::string> findings;
  std::string labels = OfLabels();
  if (!labels.empty()) findings.push_back(std::move(labels));
  for (const NumberColumn& column : numbers_) {
    std::string finding = OfNumbers(column);
    if (!finding.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

std::string CsvValues::OfNumbers(const NumberColumn& column) const {
  if (column.odd == 0) return {};
  const Odd& first = column.texts.front();
  const std::string where = first.place + ": column " + column.column;
  if (HasDecimalComma(first.text)) {
    return where + " has " + Quoted(first.text) + "; numbers have a decimal point, not a comma";
  }
  if (column.texts.size() == 1 && column.odd > 1 && column.odd < column.values &&
      input_.missing().empty()) {
    return where + " has " + Quoted(first.text) + " in " + std::to_string(column.odd) +
           " records where the others have numbers; if that marks a missing value, set missing: " +
           Quoted(first.text);
  }
  if (MostAreGood(column.odd, column.values)) return {};
  return where + " holds text (" + Quoted(first.text) + "), and feature " + column.feature +
         " is numeric; use vocabulary: {values: [...]} or hashed: {buckets: N} for it";
}

std::string CsvValues::UnknownLabel() const {
  std::vector<std::string> known;
  for (const auto& [text, number] : input_.label_map()) known.push_back(text);
  std::sort(known.begin(), known.end());
  for (const Odd& label : labels_) {
    if (input_.label_map().contains(label.text)) continue;
    std::vector<std::string> quoted(known.size());
    std::transform(known.begin(), known.end(), quoted.begin(), Quoted);
    return label.place + ": label " + Quoted(label.text) + " is not in labelMap" +
           DidYouMean(label.text, known) + "; it has " + Listed(quoted, kTexts);
  }
  return {};
}

std::string CsvValues::OfLabels() const {
  if (MostAreGood(labels_seen_ - labels_good_, labels_seen_)) return {};
  if (!input_.label_map().empty()) return UnknownLabel();
  const std::string column = "column " + input_.label_column() + ": ";
  if (labels_.size() > kTexts) {
    return labels_.front().place + ": " + column +
           "labels must be numbers from 0 to 1, or texts that labelMap gives such numbers; more "
           "than " +
           std::to_string(kTexts) + " different ones are here, the first is " +
           Quoted(labels_.front().text);
  }
  std::vector<std::string> texts;
  texts.reserve(labels_.size());
  for (const Odd& label : labels_) texts.push_back(label.text);
  const bool numbers = std::all_of(texts.begin(), texts.end(),
                                   [](const std::string& text) { return ParseNumber(text).ok(); });
  std::sort(texts.begin(), texts.end(), [numbers](const std::string& a, const std::string& b) {
    return numbers ? *ParseNumber(a) < *ParseNumber(b) : a < b;
  });
  const double range = numbers ? *ParseNumber(texts.back()) - *ParseNumber(texts.front()) : 0;
  std::vector<std::string> quoted(texts.size());
  std::transform(texts.begin(), texts.end(), quoted.begin(), Quoted);
  const bool steps = numbers && texts.size() > 2 && range == static_cast<double>(texts.size() - 1);
  const std::string list = steps     ? texts.front() + ".." + texts.back()
                           : numbers ? Listed(texts, kTexts)
                                     : Listed(quoted, kTexts);
  // The upper half is the positive class; who knows better writes another map.
  std::string map;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    map += (i == 0 ? "" : ", ") + Pair(texts[i], 2 * i >= texts.size() ? 1 : 0);
  }
  return column + "labels are " + list + "; map them: labelMap: {" + map + "}";
}

}  // namespace pstrain::preflight
