#include "runtime/input/block_decoder.h"

#include <system_error>
#include <utility>

#include "proto/job/input_kind.h"
#include "runtime/input/plain_file.h"

namespace pstrain {

Result<BlockDecoder> BlockDecoder::Create(const Input& input,
                                          std::shared_ptr<const FeatureSet> features,
                                          std::shared_ptr<const InputIndex> index,
                                          std::filesystem::path scratch) {
  PSTRAIN_ASSIGN_OR_RETURN(BatchBuilder builder,
                           BatchBuilder::Create(input, std::move(features), index->columns()));
  return BlockDecoder(CompressionOf(input), std::move(builder), std::move(index),
                      std::move(scratch));
}

BlockDecoder::BlockDecoder(Input::Compression compression, BatchBuilder builder,
                           std::shared_ptr<const InputIndex> index, std::filesystem::path scratch)
    : compression_(compression),
      builder_(std::move(builder)),
      index_(std::move(index)),
      scratch_(std::move(scratch)),
      plain_(index_->files().size()) {}

Result<std::filesystem::path> BlockDecoder::PlainOf(std::uint32_t file) {
  if (plain_[file].empty()) {
    const IndexedFile& indexed = index_->files()[file];
    PSTRAIN_ASSIGN_OR_RETURN(std::filesystem::path plain,
                             PlainFileOf(indexed.path, compression_, scratch_));
    // Positions of another content would give other records without anybody noticing.
    std::error_code error;
    if (std::filesystem::file_size(plain, error) != indexed.plain_size || error) {
      return DataLossError(indexed.path + ": the file has changed since it was indexed");
    }
    plain_[file] = std::move(plain);
  }
  return plain_[file];
}

Result<DecodedBlock> BlockDecoder::Decode(std::uint32_t block) {
  const InputBlock& place = index_->blocks()[block];
  const IndexedFile& file = index_->files()[place.file];
  PSTRAIN_ASSIGN_OR_RETURN(const std::filesystem::path plain, PlainOf(place.file));
  PSTRAIN_RETURN_IF_ERROR(
      builder_.Seek({file.path, plain}, file.positions[place.first_record / kRecordsPerPosition]));
  const auto too_short = [&file] {
    return DataLossError(file.path + ": has fewer records than its index says");
  };
  for (std::uint64_t i = place.first_record % kRecordsPerPosition; i > 0; --i) {
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, builder_.Skip());
    if (!found) return too_short();
  }
  DecodedBlock decoded;
  decoded.batch = builder_.EmptyBatch();
  decoded.rows.reserve(place.records);
  for (std::uint32_t i = 0; i < place.records; ++i) {
    const std::uint32_t row = decoded.batch.records;
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, builder_.Next(decoded.batch));
    if (!found) return too_short();
    decoded.rows.push_back(decoded.batch.records > row ? row : kSkipped);
  }
  return decoded;
}

}  // namespace pstrain
