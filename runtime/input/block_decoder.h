#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/input/batch_builder.h"
#include "runtime/input/input_index.h"

namespace pstrain {

/// A block's records in file order.
struct DecodedBlock {
  Batch batch;
  /// Per record of the block: its row in `batch`, or kSkipped.
  std::vector<std::uint32_t> rows;
};
inline constexpr std::uint32_t kSkipped = 0xffffffff;

/// Reads blocks of an indexed input. The bytes of each block are compared with the index's checksum
/// while they are read: a block of a file that has changed since the run began is an error, and
/// never decoded records. Thread-compatible.
class BlockDecoder {
 public:
  static Result<BlockDecoder> Create(const Input& input, std::shared_ptr<const FeatureSet> features,
                                     std::shared_ptr<const InputIndex> index,
                                     std::filesystem::path scratch, BadRecordListener on_bad = {});

  /// REQUIRES: the index has such a block. Errors as BatchReader::Read.
  Result<DecodedBlock> Decode(std::uint32_t block);

 private:
  BlockDecoder(Input::Compression compression, BatchBuilder builder,
               std::shared_ptr<const InputIndex> index, std::filesystem::path scratch);
  Result<std::filesystem::path> PlainOf(std::uint32_t file);
  Result<DecodedBlock> DecodeRecords(const InputBlock& block, const InputFile& file);

  Input::Compression compression_;
  BatchBuilder builder_;
  std::shared_ptr<const InputIndex> index_;
  std::filesystem::path scratch_;
  /// Plain content of each file of the index, empty until it is first needed.
  std::vector<std::filesystem::path> plain_;
};

}  // namespace pstrain
