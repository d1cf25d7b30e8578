#pragma once

#include <array>

#include "proto/contract/stats_page.h"
#include "runtime/stats/stats_writer.h"

/// The stats of the chief, as those of names.h. The evaluator's results are published here too:
/// only the chief is asked for them. Constants; any thread may read them.
namespace pstrain::stats {

inline constexpr StatDefinition kChiefExamplesExpected{"examples_expected",
                                                       "pstrain_chief_examples_expected", "",
                                                       "Records of the input times epochs."};
inline constexpr StatDefinition kChiefExamplesCommitted{
    "examples_committed", "pstrain_chief_examples_committed", "",
    "Examples of committed batches, over the whole run."};
inline constexpr StatDefinition kChiefCommitsCounted{
    "commits_counted", "pstrain_chief_commits_counted_total", "",
    "Batches whose commit this chief has counted."};
inline constexpr StatDefinition kChiefBatchesGranted{"batches_granted",
                                                     "pstrain_chief_batches_granted_total", "",
                                                     "Batches that this chief gave to workers."};
inline constexpr StatDefinition kChiefRestoredEvalLoss{
    "restored_eval_loss", "pstrain_chief_restored_eval_loss", "",
    "Evaluation loss of the state from which a stopped run was resumed."};
inline constexpr StatDefinition kChiefSteps{"steps", "pstrain_chief_global_step", "",
                                            "Committed batches, over the whole run."};
inline constexpr StatDefinition kChiefLoss{"loss", "pstrain_chief_loss", "",
                                           "Mean training loss of the last batches."};
inline constexpr StatDefinition kChiefCheckpoints{"checkpoints", "pstrain_chief_checkpoints_total",
                                                  R"(result="ok")", "Checkpoints by result."};
inline constexpr StatDefinition kChiefCheckpointsAbandoned{
    "checkpoints_abandoned", "pstrain_chief_checkpoints_total", R"(result="abandoned")",
    "Checkpoints by result."};
inline constexpr StatDefinition kChiefCheckpointAge{
    "checkpoint_age_seconds", "pstrain_chief_checkpoint_age_seconds", "",
    "Time since the newest checkpoint was placed, or since the chief's start."};
inline constexpr StatDefinition kChiefCheckpointLast{
    "checkpoint_last_success", "pstrain_chief_checkpoint_last_success_timestamp_seconds", "",
    "Unix time of the newest checkpoint, also of a former chief; absent before the first."};
inline constexpr StatDefinition kChiefCheckpointInterval{
    "checkpoint_interval_seconds", "pstrain_chief_checkpoint_interval_seconds", "",
    "Time between two checkpoints that the job asks for; 0: it asks for none by time."};
inline constexpr StatDefinition kChiefLogBytes{
    "log_bytes", "pstrain_chief_kept_calls_bytes", "",
    "Bytes of a program's calls and arguments that are kept, to run again for a lost shard."};
inline constexpr std::array kCheckpointBounds{0.1,  0.25, 0.5,  1.0,   2.5,   5.0,  10.0,
                                              20.0, 40.0, 60.0, 120.0, 300.0, 600.0};
inline constexpr HistogramDefinition kChiefCheckpointDuration{
    {"checkpoint_seconds", "pstrain_chief_checkpoint_duration_seconds", "",
     "Time from the start of a checkpoint until its manifest is in place."},
    kCheckpointBounds};
inline constexpr StatDefinition kChiefCheckpointFailing{
    "checkpoint_failing_seconds", "pstrain_chief_checkpoint_failing_seconds", "",
    "How long checkpoints or the result have been failing or stuck; 0 when neither."};
inline constexpr StatDefinition kChiefCheckpointError{
    "checkpoint_errno", "pstrain_chief_checkpoint_errno", "",
    "The errno with which the last checkpoint or the result failed; 0 for none."};
inline constexpr StatDefinition kChiefDiskWait{
    "disk_wait_seconds", "pstrain_chief_disk_wait_seconds", "",
    "Time for which the run's directory has not answered the chief."};
inline constexpr StatDefinition kChiefPsLinkAge{"ps_link_age_seconds",
                                                "pstrain_chief_ps_link_age_seconds", "",
                                                "Longest time since a ps last answered the chief."};
inline constexpr StatDefinition kChiefEpochsWait{"ps_epochs_wait_seconds",
                                                 "pstrain_chief_ps_epochs_wait_seconds", "",
                                                 "Longest time for which a ps has not confirmed a "
                                                 "new number of epochs; nothing is granted then."};
inline constexpr StatDefinition kChiefRecoveriesWorker{
    "recoveries.worker", "pstrain_chief_recoveries_total", R"(kind="worker")",
    "Recoveries from the loss of a replica, by role."};
inline constexpr StatDefinition kChiefRecoveriesPs{
    "recoveries.ps", "pstrain_chief_recoveries_total", R"(kind="ps")",
    "Recoveries from the loss of a replica, by role."};
inline constexpr StatDefinition kChiefRecoveriesChief{
    "recoveries.chief", "pstrain_chief_recoveries_total", R"(kind="chief")",
    "Recoveries from the loss of a replica, by role."};
inline constexpr StatDefinition kChiefMembership{"membership", "pstrain_chief_membership", "",
                                                 "Number of the current membership."};
inline constexpr StatDefinition kChiefAppliedMin{
    "applied_min", "pstrain_chief_applied_min_examples", "",
    "Fewest examples that a shard has applied, by the last checkpoint."};
inline constexpr StatDefinition kChiefAppliedMax{
    "applied_max", "pstrain_chief_applied_max_examples", "",
    "Most examples that a shard has applied, by the last checkpoint."};
inline constexpr StatDefinition kChiefEpoch{"epoch", "pstrain_chief_epoch", "",
                                            "Epoch of the input being granted."};
inline constexpr StatDefinition kChiefTerm{"chief_term", "pstrain_chief_term", "",
                                           "The chief term that this chief took."};
inline constexpr StatDefinition kChiefRecordsSkipped{
    "records_skipped", "pstrain_chief_records_skipped", "",
    "Records of the whole run that could not be used, by the last checkpoint."};

inline constexpr StatDefinition kChiefRecordsNonFinite{
    "records_non_finite", "pstrain_chief_records_non_finite", "",
    "Records of batches that were left out because their loss or a gradient was not finite, by the "
    "last checkpoint."};
inline constexpr StatDefinition kChiefBatchesReopened{
    "batches_reopened", "pstrain_chief_batches_reopened_total", "",
    "Committed batches that were granted again because a ps that had applied them was lost."};
inline constexpr StatDefinition kChiefBatchesOverdue{
    "batches_overdue", "pstrain_chief_batches_overdue_total", "",
    "Batches that were also given to another worker because one had them for too long."};
inline constexpr StatDefinition kChiefUpdatesLost{
    "updates_lost", "pstrain_chief_updates_lost_in_repair_total", "",
    "Calls of a program whose update shards go without, because its function failed when it ran "
    "again for them."};
inline constexpr char kBestName[] = "pstrain_chief_best_metric";
inline constexpr char kBestHelp[] =
    "Metric of the best checkpoint so far, where one is kept; of that metric alone.";
inline constexpr std::array<StatDefinition, 4> kChiefBest = {{
    {"best.auc", kBestName, R"(name="auc")", kBestHelp},
    {"best.accuracy", kBestName, R"(name="accuracy")", kBestHelp},
    {"best.log_loss", kBestName, R"(name="log_loss")", kBestHelp},
    {"best.calibration", kBestName, R"(name="calibration")", kBestHelp},
}};
inline constexpr StatDefinition kChiefBestTerm{
    "best_chief_term", "pstrain_chief_best_checkpoint_chief_term", "",
    "The chief term of the best checkpoint so far: the first half of its name."};
inline constexpr StatDefinition kChiefBestNumber{
    "best_number", "pstrain_chief_best_checkpoint_number", "",
    "The number of the best checkpoint so far: the second half of its name."};
inline constexpr StatDefinition kChiefBestExamples{
    "best_examples", "pstrain_chief_best_examples", "",
    "Examples that were committed when the best checkpoint was taken."};
inline constexpr StatDefinition kChiefEvaluatedExamples{
    "evaluated_examples", "pstrain_chief_evaluated_examples", "",
    "Examples that were committed when the checkpoint of the newest evaluation was taken."};
inline constexpr StatDefinition kChiefEarlyStopped{
    "early_stopped", "pstrain_chief_early_stopped", "",
    "1 when training has ended before its epochs, by earlyStopping."};
inline constexpr StatDefinition kChiefWaiting{
    "waiting_seconds", "pstrain_chief_waiting_seconds", "",
    "How long the chief has waited for ps, owners of shards, workers or an evaluation; 0: for "
    "nobody."};

}  // namespace pstrain::stats
