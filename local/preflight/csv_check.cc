#include <optional>
#include <utility>

#include "local/preflight/checks.h"
#include "local/preflight/csv_table.h"
#include "runtime/input/batch_builder.h"
#include "runtime/input/csv/csv_decoder.h"

namespace pstrain::preflight {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Decodes as training does, one record.
std::string ProblemOf(const CsvDecoder& decoder, const FeatureSet& features, const CsvRow& row) {
  CsvRecord fields;
  fields.fields.assign(row.fields.begin(), row.fields.end());
  Record record;
  decoder.Decode(fields, record);
  if (!record.problem.empty()) return record.problem;
  Batch batch = features.EmptyBatch();
  const Status appended = AppendRecord(features, record, batch);
  return appended.ok() ? std::string() : appended.message();
}

}  // namespace

CsvFormat FormatOf(const CsvInput& input) {
  return {input.delimiter().empty() ? ',' : input.delimiter().front(), input.trim_whitespace()};
}

std::string Place(const FileSample& sample, const CsvRow& row) {
  return sample.name + ":" + std::to_string(row.line);
}

Result<std::vector<CsvRow>> ReadRows(const FileSample& sample, const CsvFormat& format,
                                     std::size_t most) {
  std::string_view text = sample.text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<CsvRow> rows;
  CsvCursor cursor;
  CsvRecord record;
  while (rows.size() < most) {
    const CsvStep step = NextCsvRecord(format, text, !sample.cut, cursor, record);
    if (step == CsvStep::kOpenQuote) {
      return InvalidArgumentError(sample.name + ":" + std::to_string(record.line) +
                                  ": a quoted field is not closed");
    }
    if (step != CsvStep::kRecord) break;
    CsvRow row;
    row.line = record.line;
    row.fields.assign(record.fields.begin(), record.fields.end());
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

/// Looks at the files one after the other.
class CsvCheck {
 public:
  CsvCheck(const Input& input, const Training& training, const FeatureSet& features,
           const std::vector<FileSample>& samples)
      : csv_(input.csv()), training_(training), features_(features), tally_(input, samples) {}

  /// Findings that end the check.
  std::vector<std::string> Check(const FileSample& sample) {
    // One line more for the header, and one that shows that it is not alone.
    const Result<std::vector<CsvRow>> rows =
        ReadRows(sample, FormatOf(csv_), kSampleRecords - tally_.records() + 2);
    if (!rows.ok()) return {rows.status().message()};
    if (rows->empty() && sample.cut) return {};  // one record longer than the sample
    if (rows->empty()) return {sample.name + ": the file has no records"};
    std::vector<std::string> columns;
    std::vector<std::string> findings =
        CheckColumns(csv_, training_, sample, rows->front(), columns);
    if (!findings.empty()) return findings;
    if (columns_.empty()) columns_ = columns;
    if (columns != columns_) return {sample.name + ": the header differs from the first file's"};
    if (csv_.header() && rows->size() == 1 && !sample.cut) {
      return {sample.name + ": the file has a header and no records"};
    }
    return CheckRecords(sample, *rows);
  }

  std::vector<std::string> Finish() const {
    std::vector<std::string> findings = values_ ? values_->Findings() : std::vector<std::string>();
    const std::string records = tally_.Finding();
    // Skip leaves out what a column's finding is about, too: the job would go on.
    if (records.empty()) return {};
    const bool of_limits = csv_.bad_records() == Input::Skip;
    if (findings.empty() || of_limits) findings.insert(findings.begin(), records);
    return findings;
  }

 private:
  std::vector<std::string> CheckRecords(const FileSample& sample, const std::vector<CsvRow>& rows) {
    const Result<CsvDecoder> decoder = CsvDecoder::Create(csv_, columns_, LayoutOf(features_));
    if (!decoder.ok()) return {decoder.status().message()};
    if (!values_) values_.emplace(csv_, training_, columns_);
    for (std::size_t i = csv_.header() ? 1 : 0; i < rows.size() && !tally_.Full(); ++i) {
      const std::string place = Place(sample, rows[i]);
      if (rows[i].fields.size() == columns_.size()) values_->Add(place, rows[i]);
      const std::string problem = ProblemOf(*decoder, features_, rows[i]);
      if (problem.empty()) {
        tally_.Good();
      } else {
        tally_.Bad(place + ": " + problem + Hint(rows[i]));
      }
    }
    return {};
  }

  std::string Hint(const CsvRow& row) const {
    if (row.fields.size() <= columns_.size()) return {};
    return "; a field that holds the delimiter stands in double quotes";
  }

  const CsvInput& csv_;
  const Training& training_;
  const FeatureSet& features_;
  std::vector<std::string> columns_;
  std::optional<CsvValues> values_;
  RecordTally tally_;
};

}  // namespace

std::vector<std::string> CheckCsv(const Input& input, const Training& training,
                                  const FeatureSet& features,
                                  const std::vector<FileSample>& samples) {
  CsvCheck check(input, training, features, samples);
  for (const FileSample& sample : samples) {
    std::vector<std::string> findings = check.Check(sample);
    if (!findings.empty()) return findings;
  }
  return check.Finish();
}

}  // namespace pstrain::preflight
