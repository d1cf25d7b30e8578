#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/input/record_source.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Records between two positions that the index remembers.
inline constexpr std::uint64_t kRecordsPerPosition = 4096;

/// One input file as it was when the run began.
struct IndexedFile {
  std::string path;
  /// Size and CRC-32C of the file as it lies on disk (packed, where it is packed).
  std::uint64_t size = 0;
  std::uint32_t crc32c = 0;
  /// Bytes of the unpacked file.
  std::uint64_t plain_size = 0;
  std::uint64_t records = 0;
  /// positions[k] is in front of record k * kRecordsPerPosition. Only the record source can read
  /// them.
  std::vector<RecordPosition> positions;
  /// The plain bytes of each block of the file, in order; each begins where the one before ends.
  std::vector<PassedBytes> blocks;
  friend bool operator==(const IndexedFile&, const IndexedFile&) = default;
};

/// A block: a range of records of one file, the unit of shuffling.
struct InputBlock {
  std::uint32_t file = 0;
  /// Number of the block within the file.
  std::uint32_t in_file = 0;
  std::uint64_t first_record = 0;
  std::uint32_t records = 0;
  /// Number of the block's first batch in the epoch (the WorkId's count), and how many it has.
  std::uint32_t first_batch = 0;
  std::uint32_t batches = 0;
};

/// Where a batch lies: the block, the batch within the block, its records in the shuffled block.
struct BatchPlace {
  std::uint32_t block = 0;
  std::uint32_t batch_in_block = 0;
  /// Records before it in the shuffled block, and records of it, bad ones included.
  std::uint32_t first = 0;
  std::uint32_t records = 0;
};

/// What shapes the batches of a run; fixed for its life.
struct BatchShape {
  std::uint32_t batch_size = 0;
  std::uint32_t block_size = 0;
  std::uint64_t seed = 0;
  friend bool operator==(const BatchShape&, const BatchShape&) = default;
};

/// At least as many batches as a file of so many records has, by one block at most.
std::uint64_t MostBatches(const BatchShape& shape, std::uint64_t records);

/// The input of a run, cut into blocks and batches. Built once by the chief, stored in the run
/// directory as `index`, read by everyone. Immutable; any thread may use it.
class InputIndex {
 public:
  /// REQUIRES: batch_size and block_size are at least 1.
  InputIndex(BatchShape shape, std::string kind, std::vector<std::string> columns,
             std::vector<IndexedFile> files);

  const BatchShape& shape() const { return shape_; }
  /// The field of Input whose record source made the positions.
  const std::string& kind() const { return kind_; }
  /// Names of the columns in file order, as RecordSource::Columns.
  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<IndexedFile>& files() const { return files_; }
  const std::vector<InputBlock>& blocks() const { return blocks_; }
  /// Records of all files, bad ones included: one epoch.
  std::uint64_t total_records() const { return total_records_; }
  std::uint32_t batches_per_epoch() const { return batches_per_epoch_; }

  /// OUT_OF_RANGE when the epoch has no such batch.
  Result<BatchPlace> Place(WorkId work_id) const;
  /// Records of the batch, bad ones included; 0 when the epoch has no such batch.
  std::uint32_t RecordCount(WorkId work_id) const;
  /// All batch numbers of the epoch in the order in which they are granted: blocks in an order
  /// keyed by (seed, epoch), the batches of a block one after the other.
  std::vector<std::uint32_t> WorkIdOrder(std::uint32_t epoch) const;
  /// Order of the records inside a block in an epoch: place -> record of the block.
  std::vector<std::uint32_t> RecordOrder(std::uint32_t epoch, std::uint32_t block) const;

  /// Bytes with a checksum, and back: DATA_LOSS for what Serialize did not write.
  std::string Serialize() const;
  static Result<InputIndex> Parse(std::string_view bytes);

 private:
  BatchShape shape_;
  std::string kind_;
  std::vector<std::string> columns_;
  std::vector<IndexedFile> files_;
  std::vector<InputBlock> blocks_;
  std::uint64_t total_records_ = 0;
  std::uint32_t batches_per_epoch_ = 0;
};

/// Reads all files once. Packed files are unpacked into `scratch` (made when absent, left there for
/// the readers). NOT_FOUND: a file is absent; INVALID_ARGUMENT: a file has no records, columns that
/// differ, a form that its record source refuses; DATA_LOSS: a file is damaged.
Result<InputIndex> BuildInputIndex(const Input& input, const BatchShape& shape,
                                   const std::filesystem::path& scratch);

/// FAILED_PRECONDITION names the file and what differs (list of files, size, checksum), the kind of
/// input, or the batch size, block size or seed when `shape` is not the index's.
Status CheckUnchanged(const InputIndex& index, const Input& input, const BatchShape& shape);

/// Writes to a temporary name and renames; `Load`: NOT_FOUND when absent, DATA_LOSS when damaged.
Status SaveInputIndex(const InputIndex& index, const std::filesystem::path& path);
Result<InputIndex> LoadInputIndex(const std::filesystem::path& path);

}  // namespace pstrain
