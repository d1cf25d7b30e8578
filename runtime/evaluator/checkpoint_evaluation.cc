#include "runtime/evaluator/checkpoint_evaluation.h"

#include <cstdint>

#include "base/os/files.h"
#include "runtime/evaluator/checkpoint_scorer.h"
#include "runtime/evaluator/metric_report.h"
#include "runtime/input/bad_records.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kRecordsPerBatch = 512;

}  // namespace

Result<CheckpointScores> EvaluateCheckpoint(const std::string& checkpoint_directory,
                                            const Model& model, SequentialReader& input,
                                            const Input& described, const std::stop_token& stop) {
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointScorer scorer,
                           CheckpointScorer::Open(checkpoint_directory, model));
  PSTRAIN_RETURN_IF_ERROR(input.Rewind());
  BinaryMetrics metrics;
  CheckpointScores scores;
  std::uint64_t records = 0;
  while (!stop.stop_requested()) {
    PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, input.Next(kRecordsPerBatch));
    records += batch.records + batch.skipped;
    scores.skipped += batch.skipped;
    if (batch.records + batch.skipped == 0) {
      PSTRAIN_RETURN_IF_ERROR(CheckBadRecords(described, records, 1, scores.skipped));
      PSTRAIN_RETURN_IF_ERROR(CheckScores(metrics, BaseName(checkpoint_directory)));
      scores.metrics = metrics.Compute();
      return scores;
    }
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> predictions, scorer.Score(batch));
    metrics.Add(predictions, batch.labels);
  }
  return CancelledError("told to stop");
}

}  // namespace pstrain
