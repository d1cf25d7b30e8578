#include "runtime/model/training/patient_reader.h"

#include <utility>

namespace pstrain {

PatientReader::PatientReader(std::unique_ptr<BatchReader> reader, std::chrono::nanoseconds limit,
                             TryAgain::Pause pause)
    : reader_(std::move(reader)), limit_(limit), pause_(std::move(pause)) {}

Result<Batch> PatientReader::Read(WorkId work_id) {
  Result<Batch> batch = TryAgain(limit_, pause_, {"worker", "the input cannot be read now"})
                            .Until([&] { return reader_->Read(work_id); },
                                   has_read_ ? TryAgain::ReadMayPass : TryAgain::MayPass);
  has_read_ = has_read_ || batch.ok();
  return batch;
}

}  // namespace pstrain
