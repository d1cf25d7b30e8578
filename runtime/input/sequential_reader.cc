#include <optional>
#include <utility>
#include <vector>

#include "runtime/input/batch_reader.h"
#include "runtime/input/block_decoder.h"
#include "runtime/input/text_file.h"

namespace pstrain {
namespace {

class CsvSequentialReader final : public SequentialReader {
 public:
  CsvSequentialReader(CsvInput input, CsvDecoder decoder, std::vector<std::filesystem::path> texts)
      : input_(std::move(input)), decoder_(std::move(decoder)), texts_(std::move(texts)) {}

  Result<Batch> Next(std::uint32_t max_records) override {
    Batch batch = decoder_.features().EmptyBatch();
    while (batch.records + batch.skipped < max_records) {
      if (!scanner_.has_value()) {
        if (next_file_ == texts_.size()) break;
        PSTRAIN_RETURN_IF_ERROR(OpenNext());
      }
      PSTRAIN_ASSIGN_OR_RETURN(
          const bool found, DecodeNext(*scanner_, input_.bad_records(), decoder_, record_, batch));
      if (!found) scanner_.reset();
    }
    return batch;
  }

  Status Rewind() override {
    scanner_.reset();
    next_file_ = 0;
    return OkStatus();
  }

 private:
  Status OpenNext() {
    const std::string& path = input_.files(static_cast<int>(next_file_));
    PSTRAIN_ASSIGN_OR_RETURN(RecordScanner scanner,
                             RecordScanner::Open(path, texts_[next_file_], FormatOf(input_)));
    if (input_.header()) {
      PSTRAIN_ASSIGN_OR_RETURN([[maybe_unused]] const bool header, scanner.Next(record_));
    }
    ++next_file_;
    scanner_.emplace(std::move(scanner));
    return OkStatus();
  }

  CsvInput input_;
  CsvDecoder decoder_;
  std::vector<std::filesystem::path> texts_;
  std::size_t next_file_ = 0;
  std::optional<RecordScanner> scanner_;
  CsvRecord record_;
};

}  // namespace

Result<std::unique_ptr<SequentialReader>> SequentialReader::Create(
    const Input& input, std::shared_ptr<const FeatureSet> features,
    const std::filesystem::path& scratch) {
  const CsvInput& csv = input.csv();
  if (csv.files().empty()) {
    return InvalidArgumentError("input.csv.files: must name at least one file");
  }
  std::vector<std::filesystem::path> texts;
  std::vector<std::string> columns;
  for (const std::string& path : csv.files()) {
    PSTRAIN_ASSIGN_OR_RETURN(std::filesystem::path text,
                             PlainTextOf(path, csv.compression(), scratch));
    PSTRAIN_ASSIGN_OR_RETURN(std::vector<std::string> own, ColumnsOf(csv, path, text));
    if (columns.empty()) {
      columns = std::move(own);
    } else if (own != columns) {
      return InvalidArgumentError(path + ": the header differs from the first file's");
    }
    texts.push_back(std::move(text));
  }
  PSTRAIN_ASSIGN_OR_RETURN(CsvDecoder decoder,
                           CsvDecoder::Create(csv, std::move(features), columns));
  return std::unique_ptr<SequentialReader>(
      std::make_unique<CsvSequentialReader>(csv, std::move(decoder), std::move(texts)));
}

}  // namespace pstrain
