#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "base/crc32c.h"
#include "proto/job/input_kind.h"
#include "runtime/input/input_files.h"
#include "runtime/input/input_index.h"
#include "runtime/input/plain_file.h"
#include "runtime/input/record_source.h"

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
    errno = 0;
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    const auto bytes = static_cast<std::size_t>(file.gcount());
    sum.crc32c = ExtendCrc32c(sum.crc32c, chunk.data(), bytes);
    sum.size += bytes;
  }
  if (file.bad()) return StreamError(path);
  return sum;
}

Status IndexRecords(const RecordSource& source, const InputFile& opened, std::uint32_t block_size,
                    IndexedFile& file) {
  // Before the scan: a file that grows meanwhile is then told by its size.
  std::error_code error;
  file.plain_size = std::filesystem::file_size(opened.plain, error);
  if (error) return ErrnoError(error.value(), opened.name);
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RecordScanner> scanner, source.Scan(opened));
  while (true) {
    const bool remember = file.records % kRecordsPerPosition == 0;
    RecordPosition position;
    if (remember) position = scanner->Position();
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, scanner->Next());
    if (!found) break;
    if (remember) file.positions.push_back(std::move(position));
    if (++file.records % block_size == 0) file.blocks.push_back(scanner->TakePassed());
  }
  if (file.records == 0) return InvalidArgumentError(file.path + ": the file has no records");
  if (file.records % block_size != 0) file.blocks.push_back(scanner->TakePassed());
  return OkStatus();
}

Result<IndexedFile> IndexFile(const RecordSource& source, const InputFile& opened,
                              std::uint32_t block_size) {
  IndexedFile file;
  file.path = opened.name;
  PSTRAIN_RETURN_IF_ERROR(IndexRecords(source, opened, block_size, file));
  PSTRAIN_ASSIGN_OR_RETURN(const Checksum sum, ChecksumOf(file.path));
  file.size = sum.size;
  file.crc32c = sum.crc32c;
  return file;
}

/// What is new or gone of two lists of files, the first of them.
std::string FirstDifference(const std::vector<IndexedFile>& then,
                            const std::vector<std::string>& now) {
  const auto was_there = [&then](const std::string& path) {
    return std::ranges::any_of(then, [&](const IndexedFile& file) { return file.path == path; });
  };
  const auto more = std::ranges::find_if_not(now, was_there);
  if (more != now.end()) return ": " + *more + " is new";
  const auto less = std::ranges::find_if_not(then, [&now](const IndexedFile& file) {
    return std::ranges::find(now, file.path) != now.end();
  });
  return less != then.end() ? ": " + less->path + " is gone" : std::string();
}

/// Of a disk that has answered: the files are not those that the run began with.
bool SaysThatFilesAreOthers(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound;
}

}  // namespace

Result<InputIndex> BuildInputIndex(const Input& input, const BatchShape& shape,
                                   const std::filesystem::path& scratch) {
  if (shape.batch_size == 0 || shape.block_size == 0) {
    return InvalidArgumentError("batchSize and blockSize must be at least 1");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RecordSource> source, CreateRecordSource(input));
  PSTRAIN_ASSIGN_OR_RETURN(InputFiles opened, OpenInputFiles(input, *source, scratch));
  std::vector<IndexedFile> files;
  std::uint64_t batches = 0;
  for (const InputFile& one : opened.files) {
    PSTRAIN_ASSIGN_OR_RETURN(IndexedFile file, IndexFile(*source, one, shape.block_size));
    batches += MostBatches(shape, file.records);
    if (batches > std::numeric_limits<std::uint32_t>::max()) {
      return InvalidArgumentError("the input has more than 2^32 batches; raise batchSize");
    }
    files.push_back(std::move(file));
  }
  return InputIndex(shape, KindOf(input), std::move(opened.columns), std::move(files));
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
  if (KindOf(input) != index.kind()) {
    return changed("training.input was " + index.kind() + ", is " + KindOf(input));
  }
  const Result<std::vector<std::string>> expanded = ExpandFiles(input);
  if (!expanded.ok()) {
    return SaysThatFilesAreOthers(expanded.status()) ? changed(expanded.status().message())
                                                     : expanded.status();
  }
  const std::vector<std::string>& paths = *expanded;
  if (paths.size() != index.files().size()) {
    return changed("the number of files was " + std::to_string(index.files().size()) + ", is " +
                   std::to_string(paths.size()) + FirstDifference(index.files(), paths));
  }
  for (std::size_t i = 0; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    const std::string& path = paths[i];
    if (path != file.path) return changed("file " + path + " was " + file.path);
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    // A disk that does not answer says nothing of the file.
    if (error == std::errc::no_such_file_or_directory)
      return changed(path + ": " + error.message());
    if (error) return ErrnoError(error.value(), path);
    if (size != file.size) return differs("the size of " + path, file.size, size);
    PSTRAIN_ASSIGN_OR_RETURN(const Checksum sum, ChecksumOf(path));
    if (sum.crc32c != file.crc32c) {
      return differs("the CRC-32C of " + path, file.crc32c, sum.crc32c);
    }
  }
  return OkStatus();
}

}  // namespace pstrain
