#include <limits>
#include <utility>

#include "base/crc32c.h"
#include "base/os/files.h"
#include "runtime/input/input_index.h"
#include "runtime/input/input_index.pb.h"

namespace pstrain {
namespace {

constexpr std::string_view kMagic = "PSTRIDX3";
constexpr std::size_t kChecksumBytes = 4;

std::string ChecksumBytes(std::string_view payload) {
  const std::uint32_t crc = Crc32c(payload);
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<char>((crc >> shift) & 0xffU));
  }
  return bytes;
}

Status Damaged() { return DataLossError("the input index is damaged"); }

/// Each block begins where the one before ends, and has a byte at least.
Status ReadBlocks(const IndexedFileRecord& record, std::uint32_t block_size, IndexedFile& file) {
  const std::uint64_t blocks = file.records / block_size + (file.records % block_size != 0 ? 1 : 0);
  if (static_cast<std::uint64_t>(record.block_crc32cs_size()) != blocks ||
      static_cast<std::uint64_t>(record.block_offsets_size()) != blocks + 1) {
    return Damaged();
  }
  for (int i = 0; i < record.block_crc32cs_size(); ++i) {
    const PassedBytes bytes{record.block_offsets(i), record.block_offsets(i + 1),
                            record.block_crc32cs(i)};
    if (bytes.begin >= bytes.end || bytes.end > file.plain_size) return Damaged();
    file.blocks.push_back(bytes);
  }
  return OkStatus();
}

/// DATA_LOSS when the numbers contradict each other.
Result<IndexedFile> FileOf(const IndexedFileRecord& record, std::uint32_t block_size) {
  IndexedFile file;
  file.path = record.path();
  file.size = record.size();
  file.crc32c = record.crc32c();
  file.plain_size = record.plain_size();
  file.records = record.records();
  const std::uint64_t positions =
      file.records / kRecordsPerPosition + (file.records % kRecordsPerPosition != 0 ? 1 : 0);
  // A record has at least one byte. What a position says is for its record source to check.
  if (file.records == 0 || file.records > file.plain_size ||
      static_cast<std::uint64_t>(record.positions_size()) != positions) {
    return Damaged();
  }
  file.positions.assign(record.positions().begin(), record.positions().end());
  PSTRAIN_RETURN_IF_ERROR(ReadBlocks(record, block_size, file));
  return file;
}

}  // namespace

std::string InputIndex::Serialize() const {
  InputIndexRecord record;
  record.set_batch_size(shape_.batch_size);
  record.set_block_size(shape_.block_size);
  record.set_seed(shape_.seed);
  record.set_kind(kind_);
  for (const std::string& column : columns_) record.add_columns(column);
  for (const IndexedFile& file : files_) {
    IndexedFileRecord* out = record.add_files();
    out->set_path(file.path);
    out->set_size(file.size);
    out->set_crc32c(file.crc32c);
    out->set_plain_size(file.plain_size);
    out->set_records(file.records);
    for (const RecordPosition& position : file.positions) out->add_positions(position);
    for (const PassedBytes& block : file.blocks) {
      if (out->block_offsets().empty()) out->add_block_offsets(block.begin);
      out->add_block_offsets(block.end);
      out->add_block_crc32cs(block.crc32c);
    }
  }
  const std::string payload = record.SerializeAsString();
  return std::string(kMagic) + ChecksumBytes(payload) + payload;
}

Result<InputIndex> InputIndex::Parse(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + kChecksumBytes || !bytes.starts_with(kMagic)) {
    return DataLossError("this is not an input index");
  }
  const std::string_view checksum = bytes.substr(kMagic.size(), kChecksumBytes);
  const std::string_view payload = bytes.substr(kMagic.size() + kChecksumBytes);
  InputIndexRecord record;
  if (checksum != ChecksumBytes(payload) ||
      payload.size() > std::size_t{std::numeric_limits<int>::max()} ||
      !record.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ||
      record.batch_size() == 0 || record.block_size() == 0 || record.files_size() == 0) {
    return Damaged();
  }
  const BatchShape shape{record.batch_size(), record.block_size(), record.seed()};
  std::vector<IndexedFile> files;
  std::uint64_t batches = 0;
  for (const IndexedFileRecord& file : record.files()) {
    PSTRAIN_ASSIGN_OR_RETURN(IndexedFile indexed, FileOf(file, shape.block_size));
    batches += MostBatches(shape, indexed.records);
    if (batches > std::numeric_limits<std::uint32_t>::max()) return Damaged();
    files.push_back(std::move(indexed));
  }
  return InputIndex(shape, record.kind(), {record.columns().begin(), record.columns().end()},
                    std::move(files));
}

Status SaveInputIndex(const InputIndex& index, const std::filesystem::path& path) {
  return WriteFileAtomically(path.string(), index.Serialize());
}

Result<InputIndex> LoadInputIndex(const std::filesystem::path& path) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path.string()));
  Result<InputIndex> index = InputIndex::Parse(bytes);
  if (!index.ok()) return index.status().WithContext(path.string());
  return index;
}

}  // namespace pstrain
