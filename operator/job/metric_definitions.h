#pragma once

#include <array>

#include "base/metrics/definition.h"

/// What the operator says of jobs, and of itself beside the families of kube and controller: each
/// line is a family of its page and a row of docs/metrics.md. Constants; any thread may read them.
namespace pstrain::job::metrics {

using enum MetricType;

inline constexpr MetricDefinition kBuildInfo{"pstrain_operator_build_info", kGauge,
                                             "version compiler", "1; labels say what runs here."};

// Of each job that is in the cache; they end with it.
inline constexpr MetricDefinition kInfo{
    "pstrain_job_info", kGauge, "namespace job_name program queue alerts",
    "1; labels say what the job is: program is built_in or own, queue that of Kueue, alerts off "
    "where the annotation pstrain.dev/alerts says so."};
inline constexpr MetricDefinition kPhase{"pstrain_job_status_phase", kGauge,
                                         "namespace job_name phase",
                                         "1 for the phase that the job is in, 0 for the others."};
inline constexpr MetricDefinition kCondition{"pstrain_job_status_condition", kGauge,
                                             "namespace job_name condition",
                                             "1 while that condition of the job is True, else 0; "
                                             "Accepted counts as True until it is False."};
inline constexpr MetricDefinition kCreated{"pstrain_job_created_timestamp_seconds", kGauge,
                                           "namespace job_name",
                                           "Unix time at which the job was created."};
inline constexpr MetricDefinition kStarted{
    "pstrain_job_started_timestamp_seconds", kGauge, "namespace job_name",
    "Unix time at which the job was started, after a suspension again; absent while it is not."};
inline constexpr MetricDefinition kFinished{
    "pstrain_job_finished_timestamp_seconds", kGauge, "namespace job_name",
    "Unix time at which the job ended; absent before that."};
inline constexpr MetricDefinition kBackoffLimit{
    "pstrain_job_backoff_limit", kGauge, "namespace job_name", "Failures that the job may have."};
inline constexpr MetricDefinition kBackoffRemaining{
    "pstrain_job_backoff_remaining", kGauge, "namespace job_name",
    "Failures that the job may still have before it ends as Failed."};
inline constexpr MetricDefinition kSpecReplicas{"pstrain_job_spec_replicas", kGauge,
                                                "namespace job_name replica_type",
                                                "Replicas that the job asks for."};
inline constexpr MetricDefinition kActive{"pstrain_job_status_replicas_active", kGauge,
                                          "namespace job_name replica_type",
                                          "Replicas that are started or starting."};
inline constexpr MetricDefinition kReady{"pstrain_job_status_replicas_ready", kGauge,
                                         "namespace job_name replica_type",
                                         "Replicas that are ready."};
inline constexpr MetricDefinition kSucceeded{"pstrain_job_status_replicas_succeeded", kGauge,
                                             "namespace job_name replica_type",
                                             "Replicas that completed."};
inline constexpr MetricDefinition kFailed{"pstrain_job_status_replicas_failed", kGauge,
                                          "namespace job_name replica_type",
                                          "Attempts that crashed."};
inline constexpr MetricDefinition kTerminating{"pstrain_job_status_replicas_terminating", kGauge,
                                               "namespace job_name replica_type",
                                               "Replicas that are terminating."};
inline constexpr MetricDefinition kRestarts{
    "pstrain_job_restarts_total", kCounter, "namespace job_name replica_type cause",
    "Attempts that ended and were replaced or used up a failure, by role and cause, since this "
    "process of the operator started."};

// Of all jobs.
inline constexpr MetricDefinition kJobs{"pstrain_jobs", kGauge, "namespace phase",
                                        "Jobs by phase."};
inline constexpr MetricDefinition kJobsFinished{"pstrain_jobs_finished_total", kCounter,
                                                "namespace result reason",
                                                "Jobs that have ended, by result and reason."};
inline constexpr MetricDefinition kReplacementCreate{
    "pstrain_job_replacement_create_seconds", kHistogram, "replica_type",
    "Time from the watch event that shows a lost replica until the pod of its next attempt is "
    "created."};
inline constexpr MetricDefinition kReplacementReady{
    "pstrain_job_replacement_ready_seconds", kHistogram, "replica_type",
    "Time from the watch event that shows a lost replica until the pod of its next attempt is "
    "ready."};
inline constexpr MetricDefinition kStart{
    "pstrain_job_start_seconds", kHistogram, "stage",
    "Time from the start of a job until all replicas run, and until its first step is committed."};

inline constexpr std::array kOfOneJob = {
    kInfo,     kPhase,        kCondition,        kCreated,      kStarted,
    kFinished, kBackoffLimit, kBackoffRemaining, kSpecReplicas, kActive,
    kReady,    kSucceeded,    kFailed,           kTerminating,  kRestarts};
inline constexpr std::array kOfAllJobs = {
    kBuildInfo, kJobs, kJobsFinished, kReplacementCreate, kReplacementReady, kStart};

}  // namespace pstrain::job::metrics
