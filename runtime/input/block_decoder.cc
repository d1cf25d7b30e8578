#include "runtime/input/block_decoder.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "proto/job/input_kind.h"
#include "runtime/input/plain_file.h"

namespace pstrain {
namespace {

/// Bytes [begin, end) of a file, or as many of them as there are. An error is the disk's, which
/// says nothing of them.
Result<PassedBytes> ReadBytes(const InputFile& input, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 18;
  PassedBytes read{begin, begin, 0};
  errno = 0;
  std::ifstream file(input.plain, std::ios::binary);
  if (!file.is_open()) return ErrnoError(errno, input.name);
  file.seekg(static_cast<std::streamoff>(begin));
  std::vector<char> chunk(std::min(kChunkBytes, end - begin));
  while (file && read.end < end) {
    file.read(chunk.data(),
              static_cast<std::streamsize>(std::min<std::uint64_t>(chunk.size(), end - read.end)));
    const auto bytes = static_cast<std::size_t>(file.gcount());
    read.crc32c = ExtendCrc32c(read.crc32c, chunk.data(), bytes);
    read.end += bytes;
  }
  if (file.bad()) return StreamError(input.name);
  return read;
}

/// Not of the disk, which says nothing of the content.
bool IsOfContent(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kDataLoss;
}

Status HasChanged(const InputBlock& block, const IndexedFile& file) {
  const PassedBytes& bytes = file.blocks[block.in_file];
  return DataLossError(file.path + ": the file has changed since the run began, in bytes " +
                       std::to_string(bytes.begin) + " to " + std::to_string(bytes.end) +
                       " (records " + std::to_string(block.first_record + 1) + " to " +
                       std::to_string(block.first_record + block.records) +
                       "; of a compressed file, of its content); put it back, or start a new run");
}

}  // namespace

Result<BlockDecoder> BlockDecoder::Create(const Input& input,
                                          std::shared_ptr<const FeatureSet> features,
                                          std::shared_ptr<const InputIndex> index,
                                          std::filesystem::path scratch, BadRecordListener on_bad) {
  PSTRAIN_ASSIGN_OR_RETURN(
      BatchBuilder builder,
      BatchBuilder::Create(input, std::move(features), index->columns(), std::move(on_bad)));
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
    const std::uintmax_t size = std::filesystem::file_size(plain, error);
    if (error) return ErrnoError(error.value(), indexed.path);
    if (size != indexed.plain_size) {
      return DataLossError(indexed.path +
                           ": the file has changed since the run began, its size is another; put "
                           "it back, or start a new run");
    }
    plain_[file] = std::move(plain);
  }
  return plain_[file];
}

// What cannot be decoded may be so because the file has changed: that is then said instead.
Result<DecodedBlock> BlockDecoder::Decode(std::uint32_t block) {
  const InputBlock& place = index_->blocks()[block];
  const IndexedFile& file = index_->files()[place.file];
  PSTRAIN_ASSIGN_OR_RETURN(const std::filesystem::path plain, PlainOf(place.file));
  Result<DecodedBlock> decoded = DecodeRecords(place, {file.path, plain});
  if (!decoded.ok() && !IsOfContent(decoded.status())) return decoded;
  const PassedBytes& indexed = file.blocks[place.in_file];
  PSTRAIN_ASSIGN_OR_RETURN(const PassedBytes passed,
                           decoded.ok()
                               ? Result<PassedBytes>(builder_.TakePassed())
                               : ReadBytes({file.path, plain}, indexed.begin, indexed.end));
  if (passed != indexed) return HasChanged(place, file);
  return decoded;
}

Result<DecodedBlock> BlockDecoder::DecodeRecords(const InputBlock& block, const InputFile& file) {
  const IndexedFile& indexed = index_->files()[block.file];
  PSTRAIN_RETURN_IF_ERROR(
      builder_.Seek(file, indexed.positions[block.first_record / kRecordsPerPosition]));
  const auto too_short = [&file] {
    return DataLossError(file.name + ": has fewer records than its index says");
  };
  for (std::uint64_t i = block.first_record % kRecordsPerPosition; i > 0; --i) {
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, builder_.Skip());
    if (!found) return too_short();
  }
  builder_.TakePassed();
  DecodedBlock decoded;
  decoded.batch = builder_.EmptyBatch();
  decoded.rows.reserve(block.records);
  for (std::uint32_t i = 0; i < block.records; ++i) {
    const std::uint32_t row = decoded.batch.records;
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, builder_.Next(decoded.batch));
    if (!found) return too_short();
    decoded.rows.push_back(decoded.batch.records > row ? row : kSkipped);
  }
  return decoded;
}

}  // namespace pstrain
