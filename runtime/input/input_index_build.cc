#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "base/crc32c.h"
#include "runtime/input/csv/csv_decoder.h"
#include "runtime/input/input_index.h"
#include "runtime/input/record_scanner.h"
#include "runtime/input/text_file.h"

namespace pstrain {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

struct Checksum {
  std::uint64_t size = 0;
  std::uint32_t crc32c = 0;
};

Result<Checksum> ChecksumOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return ErrnoError(errno, path);
  std::vector<char> chunk(kChunkBytes);
  Checksum sum;
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    const auto bytes = static_cast<std::size_t>(file.gcount());
    sum.crc32c = ExtendCrc32c(sum.crc32c, chunk.data(), bytes);
    sum.size += bytes;
  }
  if (file.bad()) return DataLossError(path + ": reading failed");
  return sum;
}

Status IndexRecords(const CsvInput& csv, const std::filesystem::path& text, IndexedFile& file) {
  PSTRAIN_ASSIGN_OR_RETURN(RecordScanner scanner,
                           RecordScanner::Open(file.path, text, FormatOf(csv)));
  CsvRecord record;
  if (csv.header()) {
    PSTRAIN_ASSIGN_OR_RETURN([[maybe_unused]] const bool header, scanner.Next(record));
  }
  while (true) {
    const TextPosition position = scanner.position();
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, scanner.Next(record));
    if (!found) break;
    if (file.records % kRecordsPerPosition == 0) file.positions.push_back(position);
    ++file.records;
  }
  file.text_size = scanner.position().offset;
  if (file.records == 0) return InvalidArgumentError(file.path + ": the file has no records");
  return OkStatus();
}

Result<IndexedFile> IndexFile(const CsvInput& csv, const std::string& path,
                              const std::filesystem::path& scratch,
                              std::vector<std::string>& columns) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::filesystem::path text,
                           PlainTextOf(path, csv.compression(), scratch));
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<std::string> own, ColumnsOf(csv, path, text));
  if (columns.empty())
    columns = std::move(own);
  else if (own != columns) {
    return InvalidArgumentError(path + ": the header differs from the first file's");
  }
  IndexedFile file;
  file.path = path;
  PSTRAIN_RETURN_IF_ERROR(IndexRecords(csv, text, file));
  PSTRAIN_ASSIGN_OR_RETURN(const Checksum sum, ChecksumOf(path));
  file.size = sum.size;
  file.crc32c = sum.crc32c;
  return file;
}

}  // namespace

Result<InputIndex> BuildInputIndex(const Input& input, const BatchShape& shape,
                                   const std::filesystem::path& scratch) {
  if (!input.has_csv() || input.csv().files().empty()) {
    return InvalidArgumentError("input.csv.files: must name at least one file");
  }
  if (shape.batch_size == 0 || shape.block_size == 0) {
    return InvalidArgumentError("batchSize and blockSize must be at least 1");
  }
  std::vector<std::string> columns;
  std::vector<IndexedFile> files;
  std::uint64_t batches = 0;
  for (const std::string& path : input.csv().files()) {
    PSTRAIN_ASSIGN_OR_RETURN(IndexedFile file, IndexFile(input.csv(), path, scratch, columns));
    batches += MostBatches(shape, file.records);
    if (batches > std::numeric_limits<std::uint32_t>::max()) {
      return InvalidArgumentError("the input has more than 2^32 batches; raise batchSize");
    }
    files.push_back(std::move(file));
  }
  return InputIndex(shape, std::move(columns), std::move(files));
}

Status CheckUnchanged(const InputIndex& index, const Input& input, const BatchShape& shape) {
  const auto changed = [](const std::string& what) {
    return FailedPreconditionError("the input is not the one that the run began with: " + what +
                                   "; put it back or start a new run");
  };
  const auto differs = [&changed](const std::string& what, std::uint64_t then, std::uint64_t now) {
    return changed(what + " was " + std::to_string(then) + ", is " + std::to_string(now));
  };
  const BatchShape& then = index.shape();
  if (then.batch_size != shape.batch_size) {
    return differs("training.batchSize", then.batch_size, shape.batch_size);
  }
  if (then.block_size != shape.block_size) {
    return differs("training.blockSize", then.block_size, shape.block_size);
  }
  if (then.seed != shape.seed) return differs("training.seed", then.seed, shape.seed);
  const auto& paths = input.csv().files();
  if (static_cast<std::size_t>(paths.size()) != index.files().size()) {
    return differs("the number of files", index.files().size(),
                   static_cast<std::uint64_t>(paths.size()));
  }
  for (std::size_t i = 0; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    const std::string& path = paths[static_cast<int>(i)];
    if (path != file.path) return changed("file " + path + " was " + file.path);
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return changed(path + ": " + error.message());
    if (size != file.size) return differs("the size of " + path, file.size, size);
    PSTRAIN_ASSIGN_OR_RETURN(const Checksum sum, ChecksumOf(path));
    if (sum.crc32c != file.crc32c) {
      return differs("the CRC-32C of " + path, file.crc32c, sum.crc32c);
    }
  }
  return OkStatus();
}

}  // namespace pstrain
