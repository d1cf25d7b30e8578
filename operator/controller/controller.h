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

/// Brings one object from what it is to what it shall be, whatever has happened. On success the
/// time after which to look again by itself, or nullopt; an error is tried again after a backoff.
/// Never called for one key twice at once; for different keys by several threads.
using Reconciler = std::function<Result<std::optional<std::chrono::nanoseconds>>(
    const ObjectKey& key, const std::stop_token& stop)>;

/// Takes keys from a queue and reconciles them with N threads. Owned by main.
class Controller {
 public:
  /// `name` labels metrics and log lines. The queue is not owned. REQUIRES: workers >= 1.
  Controller(std::string name, int workers, WorkQueue& queue, Reconciler reconcile);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Blocks until `stop`; the reconciles under way are told so and waited for. Call it only when
  /// all caches are synced.
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
