// Any bytes as a CSV file: taken whole or in two parts it has the same records, and a record is
// either appended to the batch or refused without a trace.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/input/batch_builder.h"
#include "runtime/input/csv/csv_decoder.h"
#include "runtime/input/csv/csv_splitter.h"

namespace {

using namespace pstrain;

struct Split {
  std::vector<std::vector<std::string>> records;
  std::vector<std::uint64_t> lines;
  bool open_quote = false;
  friend bool operator==(const Split&, const Split&) = default;
};

/// Shows the splitter `first` bytes of the text, and all of it when it asks for more.
Split SplitText(const CsvFormat& format, std::string_view text, std::size_t first) {
  Split split;
  CsvCursor cursor;
  CsvRecord record;
  std::size_t shown = first;
  while (true) {
    const bool at_end = shown == text.size();
    switch (NextCsvRecord(format, text.substr(0, shown), at_end, cursor, record)) {
      case CsvStep::kRecord:
        split.records.emplace_back(record.fields.begin(), record.fields.end());
        split.lines.push_back(record.line);
        break;
      case CsvStep::kNeedMore:
        if (at_end || cursor.offset > shown) std::abort();
        shown = text.size();
        break;
      case CsvStep::kOpenQuote:
        split.open_quote = true;
        return split;
      case CsvStep::kEnd:
        return split;
    }
  }
}

Training MakeTraining() {
  Training training;
  Feature* number = training.add_features();
  number->set_name("number");
  number->mutable_numeric();
  Feature* bucket = training.add_features();
  bucket->set_name("bucket");
  bucket->mutable_numeric()->mutable_transform()->mutable_bucketize()->add_boundaries(0.5);
  Feature* word = training.add_features();
  word->set_name("word");
  word->mutable_vocabulary()->add_values("a");
  word->mutable_vocabulary()->set_oov_buckets(2);
  Feature* hash = training.add_features();
  hash->set_name("hash");
  hash->mutable_hashed()->set_buckets(7);
  Feature* cross = training.add_features();
  cross->set_name("cross");
  cross->mutable_crossed()->add_features("word");
  cross->mutable_crossed()->add_features("hash");
  cross->mutable_crossed()->set_buckets(11);
  CsvInput& csv = *training.mutable_input()->mutable_csv();
  csv.set_label_column("label");
  csv.set_missing("?");
  return training;
}

FeatureSet MakeFeatures() {
  auto features = FeatureSet::Create(MakeTraining().features());
  if (!features.ok()) std::abort();
  return std::move(features).value();
}

CsvDecoder MakeDecoder(const FeatureSet& features) {
  auto decoder =
      CsvDecoder::Create(MakeTraining().input().csv(),
                         {"label", "number", "bucket", "word", "hash"}, LayoutOf(features));
  if (!decoder.ok()) std::abort();
  return std::move(decoder).value();
}

void CheckColumns(const Batch& batch) {
  if (batch.labels.size() != batch.records) std::abort();
  for (const FeatureColumn& column : batch.features) {
    const std::size_t rows =
        column.categorical() ? column.offsets.size() - 1 : column.values.size();
    if (rows != batch.records) std::abort();
    if (column.categorical() && column.offsets.back() != column.ids.size()) std::abort();
  }
}

void DecodeText(const CsvFormat& format, std::string_view text) {
  static const FeatureSet features = MakeFeatures();
  static const CsvDecoder decoder = MakeDecoder(features);
  Batch batch = features.EmptyBatch();
  CsvCursor cursor;
  CsvRecord fields;
  Record record;
  while (NextCsvRecord(format, text, true, cursor, fields) == CsvStep::kRecord) {
    const std::uint32_t before = batch.records;
    decoder.Decode(fields, record);
    const bool appended = record.problem.empty() && AppendRecord(features, record, batch).ok();
    if (batch.records != before + (appended ? 1U : 0U)) std::abort();
    CheckColumns(batch);
  }
}

}  // namespace

/// The first byte picks the format, the second where the text is parted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr std::string_view kDelimiters = ",;\t |";
  const CsvFormat format{kDelimiters[(data[0] >> 1) % kDelimiters.size()], (data[0] & 1) != 0};
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t first = data[1] % (text.size() + 1);
  if (!(SplitText(format, text, text.size()) == SplitText(format, text, first))) std::abort();
  DecodeText(format, text);
  return 0;
}
