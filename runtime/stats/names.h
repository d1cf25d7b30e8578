#pragma once

#include <array>

#include "proto/contract/stats_page.h"
#include "runtime/stats/stats_writer.h"

/// Every stat of the runtime but the chief's own (chief_names.h): key in /progress, Prometheus
/// name, labels, help. docs/metrics.md is made of them. The agent adds job_name, replica_type and
/// replica_index. Kinds and cells are chosen in role_stats.h. Constants; any thread may read them.
namespace pstrain::stats {

// Every role.
inline constexpr StatDefinition kReady{"ready", "pstrain_runtime_ready", "",
                                       "1 when the runtime can do its work."};
inline constexpr StatDefinition kHeartbeat{
    "heartbeat", "pstrain_runtime_heartbeat_timestamp_seconds", "",
    "Unix time at which the runtime last showed a sign of life."};
inline constexpr StatDefinition kTokenExpires{
    "token_expires_at", "pstrain_runtime_token_expiry_timestamp_seconds", "",
    "Unix time at which the first of this replica's projected tokens expires."};

// Every role but the chief.
inline constexpr StatDefinition kChiefSilence{
    "chief_silence_seconds", "pstrain_runtime_chief_silence_seconds", "",
    "Seconds since the chief last answered this replica; 0 while it answers."};

// Chief and ps: in the order of RefusalReason (runtime/stats/refusals.h).
inline constexpr char kRefusedName[] = "pstrain_refused_requests_total";
inline constexpr char kRefusedHelp[] = "Requests of peers, or parts of them, that were refused.";
inline constexpr std::array<StatDefinition, 9> kRefused = {{
    {"refused.malformed", kRefusedName, R"(reason="malformed")", kRefusedHelp},
    {"refused.out_of_range", kRefusedName, R"(reason="out_of_range")", kRefusedHelp},
    {"refused.too_much", kRefusedName, R"(reason="too_much")", kRefusedHelp},
    {"refused.not_granted", kRefusedName, R"(reason="not_granted")", kRefusedHelp},
    {"refused.outdated", kRefusedName, R"(reason="outdated")", kRefusedHelp},
    {"refused.unauthenticated", kRefusedName, R"(reason="unauthenticated")", kRefusedHelp},
    {"refused.permission_denied", kRefusedName, R"(reason="permission_denied")", kRefusedHelp},
    {"refused.unknown_key", kRefusedName, R"(reason="unknown_key")", kRefusedHelp},
    {"refused.wrong_time", kRefusedName, R"(reason="wrong_time")", kRefusedHelp},
}};

// Worker.
inline constexpr StatDefinition kWorkerExamples{"examples", "pstrain_worker_examples_total", "",
                                                "Examples whose gradient was pushed."};
inline constexpr StatDefinition kWorkerSteps{"steps", "pstrain_worker_steps_total", "",
                                             "Steps done."};
inline constexpr StatDefinition kWorkerLoss{"loss", "pstrain_worker_loss", "",
                                            "Loss of the last step."};
inline constexpr char kWorkerPhaseHelp[] =
    "Time spent in each stage of a step. Stages overlap. wait: waiting for values.";
inline constexpr StatDefinition kWorkerPhaseInput{"phase_seconds.input",
                                                  "pstrain_worker_phase_seconds_total",
                                                  R"(phase="input")", kWorkerPhaseHelp};
inline constexpr StatDefinition kWorkerPhasePull{"phase_seconds.pull",
                                                 "pstrain_worker_phase_seconds_total",
                                                 R"(phase="pull")", kWorkerPhaseHelp};
inline constexpr StatDefinition kWorkerPhaseCompute{"phase_seconds.compute",
                                                    "pstrain_worker_phase_seconds_total",
                                                    R"(phase="compute")", kWorkerPhaseHelp};
inline constexpr StatDefinition kWorkerPhasePush{"phase_seconds.push",
                                                 "pstrain_worker_phase_seconds_total",
                                                 R"(phase="push")", kWorkerPhaseHelp};
inline constexpr StatDefinition kWorkerPhaseWait{"phase_seconds.wait",
                                                 "pstrain_worker_phase_seconds_total",
                                                 R"(phase="wait")", kWorkerPhaseHelp};
inline constexpr StatDefinition kWorkerBytesSent{
    "bytes_sent", "pstrain_worker_rpc_request_bytes_total", "", "Bytes sent to ps."};
inline constexpr StatDefinition kWorkerBytesReceived{
    "bytes_received", "pstrain_worker_rpc_response_bytes_total", "", "Bytes received from ps."};
inline constexpr StatDefinition kWorkerRowsPulled{"rows_pulled", "pstrain_worker_rows_pulled_total",
                                                  "", "Embedding rows pulled."};
inline constexpr StatDefinition kWorkerRowsPushed{"rows_pushed", "pstrain_worker_rows_pushed_total",
                                                  "", "Embedding rows pushed."};
inline constexpr StatDefinition kWorkerRetries{"retries", "pstrain_worker_rpc_retries_total", "",
                                               "Requests that were sent again."};
inline constexpr std::array kStalenessBounds{0.0,  1.0,  2.0,  3.0,  4.0,  6.0,   8.0,
                                             12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0};
inline constexpr HistogramDefinition kWorkerStaleness{
    {"staleness", "pstrain_worker_gradient_staleness_steps", "",
     "Approximate number of updates by other steps between pull and push of a step."},
    kStalenessBounds};
inline constexpr std::array kStepBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                        0.25,  0.5,    1.0,   2.5,  5.0,   15.0, 60.0};
inline constexpr HistogramDefinition kWorkerStepDuration{
    {"step_seconds", "pstrain_worker_step_duration_seconds", "",
     "Time of a step from its pull to the end of its push."},
    kStepBounds};
inline constexpr std::array kRpcBounds{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                       0.01,    0.025,  0.05,    0.1,    0.5,   1.0,    5.0};
inline constexpr HistogramDefinition kWorkerPullDuration{
    {"rpc_seconds.pull", "pstrain_worker_rpc_duration_seconds", R"(method="pull")",
     "Time from sending a request to a ps to its reply."},
    kRpcBounds};
inline constexpr HistogramDefinition kWorkerPushDuration{
    {"rpc_seconds.push", "pstrain_worker_rpc_duration_seconds", R"(method="push")",
     "Time from sending a request to a ps to its reply."},
    kRpcBounds};
inline constexpr StatDefinition kWorkerCommitsReported{"commits_reported",
                                                       "pstrain_worker_commits_reported_total", "",
                                                       "Batches reported to the chief as applied."};
inline constexpr StatDefinition kWorkerMissedAttempts{
    "missed_attempts", "pstrain_worker_missed_attempts_total", "",
    "Attempts of a program's calls that were given up."};
inline constexpr StatDefinition kWorkerRecordsSkipped{
    "records_skipped", "pstrain_worker_input_errors_total", R"(reason="skipped")",
    "Records that could not be used."};
inline constexpr StatDefinition kWorkerRecordsNonFinite{
    "records_non_finite", "pstrain_worker_input_errors_total", R"(reason="non_finite")",
    "Records that could not be used."};
inline constexpr StatDefinition kWorkerOldestBatch{
    "oldest_batch_seconds", "pstrain_worker_oldest_batch_seconds", "",
    "Age of the oldest batch that the worker has not reported; 0: it has none."};

// Ps.
inline constexpr StatDefinition kPsPushesApplied{"pushes_applied", "pstrain_ps_updates_total",
                                                 R"(result="applied")",
                                                 "Sections of pushes by result."};
inline constexpr StatDefinition kPsDuplicatesRefused{
    "duplicates_refused", "pstrain_ps_updates_total", R"(result="deduplicated")",
    "Sections of pushes by result."};
inline constexpr StatDefinition kPsNotOwner{"not_owner", "pstrain_ps_updates_total",
                                            R"(result="not_owner")",
                                            "Sections of pushes by result."};
inline constexpr StatDefinition kPsQueueSeconds{
    "queue_seconds", "pstrain_ps_queue_seconds_total", "",
    "Time that requests waited for their owner thread."};
inline constexpr StatDefinition kPsBusySeconds{"busy_seconds", "pstrain_ps_busy_seconds_total", "",
                                               "Time that owner threads were busy."};
inline constexpr StatDefinition kPsQueueLength{"queue_length", "pstrain_ps_queue_length", "",
                                               "Requests waiting for an owner thread."};
inline constexpr StatDefinition kPsBytesReceived{
    "bytes_received", "pstrain_ps_received_bytes_total", "", "Bytes received from workers."};
inline constexpr StatDefinition kPsBytesSent{"bytes_sent", "pstrain_ps_sent_bytes_total", "",
                                             "Bytes sent to workers."};
inline constexpr StatDefinition kPsRowsRead{"rows_read", "pstrain_ps_rows_read_total", "",
                                            "Embedding rows read."};
inline constexpr StatDefinition kPsRowsWritten{"rows_written", "pstrain_ps_rows_written_total", "",
                                               "Embedding rows written."};
inline constexpr StatDefinition kPsShards{"shards", "pstrain_ps_shards", "", "Shards owned."};
inline constexpr StatDefinition kPsStateBytes{"state_bytes", "pstrain_ps_state_bytes", "",
                                              "Bytes of values and optimizer slots."};

// Evaluator.
inline constexpr StatDefinition kEvaluatorEvaluations{
    "evaluations", "pstrain_evaluator_evaluations_total", "", "Checkpoints evaluated."};
inline constexpr StatDefinition kEvaluatorAuc{"auc", "pstrain_evaluator_metric", R"(name="auc")",
                                              "Last result of the evaluator."};
inline constexpr StatDefinition kEvaluatorAccuracy{
    "accuracy", "pstrain_evaluator_metric", R"(name="accuracy")", "Last result of the evaluator."};
inline constexpr StatDefinition kEvaluatorLogLoss{
    "log_loss", "pstrain_evaluator_metric", R"(name="log_loss")", "Last result of the evaluator."};
inline constexpr StatDefinition kEvaluatorCalibration{"calibration", "pstrain_evaluator_metric",
                                                      R"(name="calibration")",
                                                      "Last result of the evaluator."};

}  // namespace pstrain::stats
