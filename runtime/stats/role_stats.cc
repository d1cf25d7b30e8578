#include "runtime/stats/role_stats.h"

#include "runtime/stats/chief_names.h"
#include "runtime/stats/names.h"

namespace pstrain {

RuntimeStats::RuntimeStats(StatsWriter& writer)
    : ready(writer.AddGauge(stats::kReady)), heartbeat(writer.AddGauge(stats::kHeartbeat)) {}

PeerStats::PeerStats(StatsWriter& writer) : chief_silence(writer.AddGauge(stats::kChiefSilence)) {}
TokenStats::TokenStats(StatsWriter& writer) : expires(writer.AddUnsetGauge(stats::kTokenExpires)) {}

WorkerStats::WorkerStats(StatsWriter& writer)
    : examples(writer.AddCounter(stats::kWorkerExamples)),
      steps(writer.AddCounter(stats::kWorkerSteps)),
      loss(writer.AddUnsetGauge(stats::kWorkerLoss)),
      input_seconds(writer.AddSeconds(stats::kWorkerPhaseInput)),
      pull_seconds(writer.AddSeconds(stats::kWorkerPhasePull)),
      compute_seconds(writer.AddSeconds(stats::kWorkerPhaseCompute)),
      push_seconds(writer.AddSeconds(stats::kWorkerPhasePush)),
      wait_seconds(writer.AddSeconds(stats::kWorkerPhaseWait)),
      bytes_sent(writer.AddCounter(stats::kWorkerBytesSent)),
      bytes_received(writer.AddCounter(stats::kWorkerBytesReceived)),
      rows_pulled(writer.AddCounter(stats::kWorkerRowsPulled)),
      rows_pushed(writer.AddCounter(stats::kWorkerRowsPushed)),
      retries(writer.AddCounter(stats::kWorkerRetries)),
      staleness(writer.AddHistogram(stats::kWorkerStaleness)),
      step_duration(writer.AddHistogram(stats::kWorkerStepDuration)),
      pull_duration(writer.AddHistogram(stats::kWorkerPullDuration)),
      push_duration(writer.AddHistogram(stats::kWorkerPushDuration)),
      commits_reported(writer.AddCounter(stats::kWorkerCommitsReported)),
      missed_attempts(writer.AddCounter(stats::kWorkerMissedAttempts)),
      records_skipped(writer.AddCounter(stats::kWorkerRecordsSkipped)),
      records_non_finite(writer.AddCounter(stats::kWorkerRecordsNonFinite)),
      oldest_batch(writer.AddGauge(stats::kWorkerOldestBatch)) {}

PsStats::PsStats(StatsWriter& writer)
    : pushes_applied(writer.AddCounter(stats::kPsPushesApplied)),
      duplicates_refused(writer.AddCounter(stats::kPsDuplicatesRefused)),
      not_owner(writer.AddCounter(stats::kPsNotOwner)),
      queue_seconds(writer.AddSeconds(stats::kPsQueueSeconds)),
      busy_seconds(writer.AddSeconds(stats::kPsBusySeconds)),
      queue_length(writer.AddGauge(stats::kPsQueueLength)),
      bytes_received(writer.AddCounter(stats::kPsBytesReceived)),
      bytes_sent(writer.AddCounter(stats::kPsBytesSent)),
      rows_read(writer.AddCounter(stats::kPsRowsRead)),
      rows_written(writer.AddCounter(stats::kPsRowsWritten)),
      shards(writer.AddGauge(stats::kPsShards)),
      state_bytes(writer.AddGauge(stats::kPsStateBytes)) {}

EvaluatorStats::EvaluatorStats(StatsWriter& writer)
    : evaluations(writer.AddCounter(stats::kEvaluatorEvaluations)) {}

namespace {

/// Their keys are "best." and the metric's.
std::map<std::string, Gauge*> AddBest(StatsWriter& writer) {
  std::map<std::string, Gauge*> best;
  for (const StatDefinition& definition : stats::kChiefBest) {
    best[std::string(definition.key.substr(definition.key.find('.') + 1))] =
        writer.AddUnsetGauge(definition);
  }
  return best;
}

}  // namespace

ChiefStats::ChiefStats(StatsWriter& writer)
    : examples_expected(writer.AddUnsetGauge(stats::kChiefExamplesExpected)),
      examples_committed(writer.AddUnsetGauge(stats::kChiefExamplesCommitted)),
      commits_counted(writer.AddCounter(stats::kChiefCommitsCounted)),
      batches_granted(writer.AddCounter(stats::kChiefBatchesGranted)),
      restored_eval_loss(writer.AddUnsetGauge(stats::kChiefRestoredEvalLoss)),
      steps(writer.AddUnsetGauge(stats::kChiefSteps)),
      loss(writer.AddUnsetGauge(stats::kChiefLoss)),
      checkpoints(writer.AddCounter(stats::kChiefCheckpoints)),
      checkpoints_abandoned(writer.AddCounter(stats::kChiefCheckpointsAbandoned)),
      checkpoint_age(writer.AddGauge(stats::kChiefCheckpointAge)),
      checkpoint_last(writer.AddUnsetGauge(stats::kChiefCheckpointLast)),
      checkpoint_interval(writer.AddGauge(stats::kChiefCheckpointInterval)),
      log_bytes(writer.AddGauge(stats::kChiefLogBytes)),
      checkpoint_duration(writer.AddHistogram(stats::kChiefCheckpointDuration)),
      checkpoint_failing(writer.AddGauge(stats::kChiefCheckpointFailing)),
      checkpoint_error(writer.AddGauge(stats::kChiefCheckpointError)),
      disk_wait(writer.AddGauge(stats::kChiefDiskWait)),
      ps_link_age(writer.AddGauge(stats::kChiefPsLinkAge)),
      epochs_wait(writer.AddGauge(stats::kChiefEpochsWait)),
      worker_recoveries(writer.AddCounter(stats::kChiefRecoveriesWorker)),
      ps_recoveries(writer.AddCounter(stats::kChiefRecoveriesPs)),
      chief_recoveries(writer.AddCounter(stats::kChiefRecoveriesChief)),
      membership(writer.AddGauge(stats::kChiefMembership)),
      applied_min(writer.AddUnsetGauge(stats::kChiefAppliedMin)),
      applied_max(writer.AddUnsetGauge(stats::kChiefAppliedMax)),
      epoch(writer.AddUnsetGauge(stats::kChiefEpoch)),
      chief_term(writer.AddGauge(stats::kChiefTerm)),
      records_skipped(writer.AddGauge(stats::kChiefRecordsSkipped)),
      records_non_finite(writer.AddGauge(stats::kChiefRecordsNonFinite)),
      batches_reopened(writer.AddCounter(stats::kChiefBatchesReopened)),
      batches_overdue(writer.AddCounter(stats::kChiefBatchesOverdue)),
      updates_lost(writer.AddCounter(stats::kChiefUpdatesLost)),
      auc(writer.AddUnsetGauge(stats::kEvaluatorAuc)),
      accuracy(writer.AddUnsetGauge(stats::kEvaluatorAccuracy)),
      log_loss(writer.AddUnsetGauge(stats::kEvaluatorLogLoss)),
      calibration(writer.AddUnsetGauge(stats::kEvaluatorCalibration)),
      waiting(writer.AddGauge(stats::kChiefWaiting)),
      best(AddBest(writer)),
      best_chief_term(writer.AddUnsetGauge(stats::kChiefBestTerm)),
      best_number(writer.AddUnsetGauge(stats::kChiefBestNumber)),
      best_examples(writer.AddUnsetGauge(stats::kChiefBestExamples)),
      evaluated_examples(writer.AddUnsetGauge(stats::kChiefEvaluatedExamples)),
      early_stopped(writer.AddUnsetGauge(stats::kChiefEarlyStopped)) {}

}  // namespace pstrain
