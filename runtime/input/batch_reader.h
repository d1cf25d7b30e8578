#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/input/bad_records.h"
#include "runtime/input/input_index.h"
#include "runtime/input/record_source.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// Reads batches by work id. What a batch holds is a pure function of the index (with its batch
/// size, block size and seed), the features and the work id. Keeps the last few decoded blocks, so
/// the batches of a block parse it once. Thread-compatible: a worker's prefetch thread owns one.
class BatchReader {
 public:
  struct Options {
    /// Where packed files are unpacked; made when absent. Shared by the processes of one machine.
    std::filesystem::path scratch;
    /// Decoded blocks that are kept.
    std::size_t cached_blocks = 4;
    /// Told of each record that is left out, again in each pass; may be empty.
    BadRecordListener on_bad = {};
  };

  /// INVALID_ARGUMENT when a feature's column or the label column is not in the input.
  static Result<std::unique_ptr<BatchReader>> Create(const Input& input,
                                                     std::shared_ptr<const FeatureSet> features,
                                                     std::shared_ptr<const InputIndex> index,
                                                     Options options);
  virtual ~BatchReader() = default;

  /// INVALID_ARGUMENT for a bad record under policy Fail (`adult.data:17: column age: "abc" is not
  /// a number`); DATA_LOSS when a file is not what the index says; OUT_OF_RANGE for no such batch.
  virtual Result<Batch> Read(WorkId work_id) = 0;
  /// Blocks that were read and decoded so far (the others came from the cache).
  virtual std::uint64_t blocks_decoded() const = 0;
};

/// Reads an input from the first record to the last in file order, without an index, again and
/// again after Rewind. Thread-compatible; whoever scores records owns one.
class SequentialReader {
 public:
  struct Options {
    /// Where packed files are unpacked; the reader's alone.
    std::filesystem::path scratch;
    Labels labels = Labels::kRequired;
    /// Told of each record that is left out; may be empty.
    BadRecordListener on_bad = {};
  };

  /// NOT_FOUND, INVALID_ARGUMENT and DATA_LOSS as BuildInputIndex.
  static Result<std::unique_ptr<SequentialReader>> Create(
      const Input& input, std::shared_ptr<const FeatureSet> features, const Options& options);
  virtual ~SequentialReader() = default;

  /// The next records, at most `max_records` with the skipped ones; records + skipped is 0 at the
  /// end of the input only.
  virtual Result<Batch> Next(std::uint32_t max_records) = 0;
  virtual Status Rewind() = 0;
};

}  // namespace pstrain
