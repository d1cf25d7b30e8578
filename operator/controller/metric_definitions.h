#pragma once

#include <array>

#include "base/metrics/definition.h"

/// What queue, workers, caches, events and leader election say of themselves, each under the name
/// that controllers in Go use where there is one: k8s.io/client-go/util/workqueue,
/// sigs.k8s.io/controller-runtime/pkg/internal/controller/metrics,
/// k8s.io/client-go/tools/leaderelection. Constants; any thread may read them.
namespace pstrain::kube::metrics {

using enum MetricType;

inline constexpr MetricDefinition kQueueDepth{"workqueue_depth", kGauge, "name",
                                              "Keys that are due and wait for a worker."};
inline constexpr MetricDefinition kQueueAdds{"workqueue_adds_total", kCounter, "name",
                                             "Requests to reconcile a key."};
inline constexpr MetricDefinition kQueueRetries{"workqueue_retries_total", kCounter, "name",
                                                "Keys added again after a failure."};
inline constexpr MetricDefinition kQueueUnfinished{
    "workqueue_unfinished_work_seconds", kGauge, "name",
    "Sum of the ages of all reconciles in progress."};
inline constexpr MetricDefinition kQueueLongest{"workqueue_longest_running_processor_seconds",
                                                kGauge, "name",
                                                "Age of the oldest reconcile in progress."};
inline constexpr MetricDefinition kQueueDuration{
    "workqueue_queue_duration_seconds", kHistogram, "name",
    "Time from when a key is due until a worker takes it."};
inline constexpr MetricDefinition kQueueWork{"workqueue_work_duration_seconds", kHistogram, "name",
                                             "Time that a worker spends on a key."};

inline constexpr MetricDefinition kReconciles{"controller_runtime_reconcile_total", kCounter,
                                              "controller result", "Reconciles by result."};
inline constexpr MetricDefinition kReconcileErrors{
    "controller_runtime_reconcile_errors_total", kCounter, "controller", "Reconciles that failed."};
inline constexpr MetricDefinition kActiveWorkers{"controller_runtime_active_workers", kGauge,
                                                 "controller", "Reconciles in progress."};
inline constexpr MetricDefinition kMaxReconciles{"controller_runtime_max_concurrent_reconciles",
                                                 kGauge, "controller",
                                                 "Most reconciles that may run concurrently."};
inline constexpr MetricDefinition kReconcileTime{"controller_runtime_reconcile_time_seconds",
                                                 kHistogram, "controller",
                                                 "Duration of a reconcile."};

inline constexpr MetricDefinition kEvents{
    "pstrain_operator_events_total", kCounter, "result",
    "Kubernetes events by result: created, counted in a series, dropped or failed."};
inline constexpr MetricDefinition kWatchRestarts{"pstrain_operator_watch_restarts_total", kCounter,
                                                 "kind reason",
                                                 "Watches that were begun again: ended after its "
                                                 "time, expired (listed again) or after an error."};
inline constexpr MetricDefinition kCacheObjects{"pstrain_operator_cache_objects", kGauge, "kind",
                                                "Objects in the cache."};
inline constexpr MetricDefinition kLeads{"leader_election_master_status", kGauge, "name",
                                         "1 while this process leads."};

inline constexpr std::array kAll = {
    kQueueDepth,      kQueueAdds,     kQueueRetries,  kQueueUnfinished,
    kQueueLongest,    kQueueDuration, kQueueWork,     kReconciles,
    kReconcileErrors, kActiveWorkers, kMaxReconciles, kReconcileTime,
    kEvents,          kWatchRestarts, kCacheObjects,  kLeads};

}  // namespace pstrain::kube::metrics
