#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "runtime/cluster/try_again.h"
#include "runtime/input/batch_reader.h"

namespace pstrain {

/// Reads batches from a disk or network file system that may fail for a while: what may pass is
/// tried again, with the pauses of TryAgain. Also permissions and lacking memory or descriptors,
/// once a batch was read; before that they are to be seen immediately. A record that is bad and a
/// file that has changed are errors immediately. Meanwhile the chief may grant the batch to another
/// worker. Thread-compatible, as every BatchReader.
class PatientReader final : public BatchReader {
 public:
  PatientReader(std::unique_ptr<BatchReader> reader, std::chrono::nanoseconds limit,
                TryAgain::Pause pause);

  Result<Batch> Read(WorkId work_id) override;
  std::uint64_t blocks_decoded() const override { return reader_->blocks_decoded(); }

 private:
  const std::unique_ptr<BatchReader> reader_;
  const std::chrono::nanoseconds limit_;
  const TryAgain::Pause pause_;
  bool has_read_ = false;
};

}  // namespace pstrain
