#pragma once

#include <stop_token>
#include <string>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/evaluator/metrics.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/model.h"

namespace pstrain {

/// What an evaluation has found.
struct CheckpointScores {
  MetricValues metrics;
  /// Bad records that were left out.
  std::uint64_t skipped = 0;
};

/// Scores all of `input`, from its first record on, with the values of one checkpoint. `described`:
/// what the job says of the input. OUT_OF_RANGE as CheckScores, INVALID_ARGUMENT as CheckBadRecords
/// and for a bad record, CANCELLED when it was told to stop; else as CheckpointReader. The calling
/// thread does the work.
Result<CheckpointScores> EvaluateCheckpoint(const std::string& checkpoint_directory,
                                            const Model& model, SequentialReader& input,
                                            const Input& described, const std::stop_token& stop);

}  // namespace pstrain
