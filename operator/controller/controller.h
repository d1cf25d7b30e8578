#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/metrics/collector.h"
#include "base/metrics/histogram.h"
#include "base/status.h"
#include "operator/controller/work_queue.h"
#include "operator/kube/resource.h"

namespace pstrain::kube {

/// When to reconcile again though nothing changes, as controller-runtime's Result.RequeueAfter;
/// nullopt: only at the next change.
using RequeueAfter = std::optional<std::chrono::nanoseconds>;

/// Makes the cluster agree with one object's specification, whatever has happened. An error is
/// tried again after a backoff. Never called for one key by two threads at the same time; for
/// different keys by several threads.
using Reconciler =
    std::function<Result<RequeueAfter>(const ObjectKey& key, const std::stop_token& stop)>;

/// Takes keys from a queue and reconciles them with N threads. Owned by main.
class Controller {
 public:
  /// `name` labels metrics and log lines. The queue is not owned. REQUIRES: workers >= 1.
  Controller(std::string name, int workers, WorkQueue& queue, Reconciler reconcile);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Blocks until `stop`; the reconciles in progress get the stop and are waited for. Call it only
  /// when all caches are synced.
  void Run(const std::stop_token& stop);

  /// controller_runtime_* as controller-runtime names them, with label `controller`.
  std::vector<MetricFamily> Collect() const;

 private:
  void Work(const std::stop_token& stop);
  void ReconcileOne(const ObjectKey& key, const std::stop_token& stop);

  const std::string name_;
  const int workers_;
  WorkQueue& queue_;
  const Reconciler reconcile_;
  std::atomic<std::uint64_t> successes_{0};
  std::atomic<std::uint64_t> successes_with_requeue_{0};
  std::atomic<std::uint64_t> errors_{0};
  std::atomic<int> active_{0};
  DurationHistogram durations_;
};

}  // namespace pstrain::kube
