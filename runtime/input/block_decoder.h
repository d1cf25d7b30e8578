#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/input/csv/csv_decoder.h"
#include "runtime/input/input_index.h"
#include "runtime/input/record_scanner.h"

namespace pstrain {

/// Decodes the next record of `scanner` into `batch` by the input's policy. A bad record under
/// policy Skip raises batch.skipped and is passed over; under Fail it is INVALID_ARGUMENT with file
/// and line. False at the end of the file.
Result<bool> DecodeNext(RecordScanner& scanner, CsvInput::BadRecords policy, CsvDecoder& decoder,
                        CsvRecord& record, Batch& batch);

/// A block's records in file order.
struct DecodedBlock {
  Batch batch;
  /// Per record of the block: its row in `batch`, or kSkipped.
  std::vector<std::uint32_t> rows;
};
inline constexpr std::uint32_t kSkipped = 0xffffffff;

/// Reads blocks of an indexed input. Thread-compatible.
class BlockDecoder {
 public:
  static Result<BlockDecoder> Create(const Input& input, std::shared_ptr<const FeatureSet> features,
                                     std::shared_ptr<const InputIndex> index,
                                     std::filesystem::path scratch);

  /// REQUIRES: the index has such a block. Errors as BatchReader::Read.
  Result<DecodedBlock> Decode(std::uint32_t block);

 private:
  BlockDecoder(CsvInput input, CsvDecoder decoder, std::shared_ptr<const InputIndex> index,
               std::filesystem::path scratch);
  Result<std::filesystem::path> TextOf(std::uint32_t file);

  CsvInput input_;
  CsvDecoder decoder_;
  std::shared_ptr<const InputIndex> index_;
  std::filesystem::path scratch_;
  /// Plain text of each file of the index, empty until it is first needed.
  std::vector<std::filesystem::path> texts_;
};

}  // namespace pstrain
