#include "runtime/input/block_decoder.h"

#include <system_error>
#include <utility>

#include "runtime/input/text_file.h"

namespace pstrain {

Result<bool> DecodeNext(RecordScanner& scanner, CsvInput::BadRecords policy, CsvDecoder& decoder,
                        CsvRecord& record, Batch& batch) {
  PSTRAIN_ASSIGN_OR_RETURN(const bool found, scanner.Next(record));
  if (!found) return false;
  const Status decoded = decoder.Append(record, batch);
  if (decoded.ok()) return true;
  if (policy != CsvInput::Skip) {
    return InvalidArgumentError(scanner.name() + ":" + std::to_string(record.line) + ": " +
                                decoded.message() +
                                "; mend the record, or leave such records out with "
                                "csv.badRecords: Skip");
  }
  ++batch.skipped;
  return true;
}

Result<BlockDecoder> BlockDecoder::Create(const Input& input,
                                          std::shared_ptr<const FeatureSet> features,
                                          std::shared_ptr<const InputIndex> index,
                                          std::filesystem::path scratch) {
  PSTRAIN_ASSIGN_OR_RETURN(CsvDecoder decoder,
                           CsvDecoder::Create(input.csv(), std::move(features), index->columns()));
  return BlockDecoder(input.csv(), std::move(decoder), std::move(index), std::move(scratch));
}

BlockDecoder::BlockDecoder(CsvInput input, CsvDecoder decoder,
                           std::shared_ptr<const InputIndex> index, std::filesystem::path scratch)
    : input_(std::move(input)),
      decoder_(std::move(decoder)),
      index_(std::move(index)),
      scratch_(std::move(scratch)),
      texts_(index_->files().size()) {}

Result<std::filesystem::path> BlockDecoder::TextOf(std::uint32_t file) {
  if (texts_[file].empty()) {
    const IndexedFile& indexed = index_->files()[file];
    PSTRAIN_ASSIGN_OR_RETURN(std::filesystem::path text,
                             PlainTextOf(indexed.path, input_.compression(), scratch_));
    std::error_code error;
    if (std::filesystem::file_size(text, error) != indexed.text_size || error) {
      return DataLossError(indexed.path + ": the file has changed since it was indexed");
    }
    texts_[file] = std::move(text);
  }
  return texts_[file];
}

Result<DecodedBlock> BlockDecoder::Decode(std::uint32_t block) {
  const InputBlock& place = index_->blocks()[block];
  const IndexedFile& file = index_->files()[place.file];
  PSTRAIN_ASSIGN_OR_RETURN(const std::filesystem::path text, TextOf(place.file));
  PSTRAIN_ASSIGN_OR_RETURN(
      RecordScanner scanner,
      RecordScanner::Open(file.path, text, FormatOf(input_),
                          file.positions[place.first_record / kRecordsPerPosition]));
  const Status too_short = DataLossError(file.path + ": has fewer records than its index says");
  CsvRecord record;
  for (std::uint64_t i = place.first_record % kRecordsPerPosition; i > 0; --i) {
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, scanner.Next(record));
    if (!found) return too_short;
  }
  DecodedBlock decoded;
  decoded.batch = decoder_.features().EmptyBatch();
  decoded.rows.reserve(place.records);
  for (std::uint32_t i = 0; i < place.records; ++i) {
    const std::uint32_t row = decoded.batch.records;
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, DecodeNext(scanner, input_.bad_records(), decoder_,
                                                          record, decoded.batch));
    if (!found) return too_short;
    decoded.rows.push_back(decoded.batch.records > row ? row : kSkipped);
  }
  return decoded;
}

}  // namespace pstrain
