#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics/collector.h"
#include "base/metrics/histogram.h"
#include "base/mutex.h"
#include "operator/controller/queue_state.h"
#include "operator/kube/resource.h"

namespace pstrain::kube {

/// Keys that wait to be reconciled; QueueState has the rules. Owned by main; any thread. Time is
/// the steady clock's.
class WorkQueue {
 public:
  /// `name` labels the metrics.
  WorkQueue(std::string name, QueueState::Options options);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// As soon as possible.
  void Add(const ObjectKey& key, Priority priority = Priority::kNormal) PSTRAIN_EXCLUDES(mutex_);
  /// Not before `delay` has passed, unless somebody asks for it earlier. Clamped to [0, 1 year].
  void AddAfter(const ObjectKey& key, std::chrono::nanoseconds delay,
                Priority priority = Priority::kNormal) PSTRAIN_EXCLUDES(mutex_);
  /// After the key's backoff, which grows with each call until Forget.
  void AddRateLimited(const ObjectKey& key) PSTRAIN_EXCLUDES(mutex_);
  void Forget(const ObjectKey& key) PSTRAIN_EXCLUDES(mutex_);

  /// Waits for a key that is due; nullopt when `stop` comes first. Whoever takes it calls Done.
  std::optional<ObjectKey> Get(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  void Done(const ObjectKey& key) PSTRAIN_EXCLUDES(mutex_);

  /// workqueue_* as client-go names them, with label `name`.
  std::vector<MetricFamily> Collect() const PSTRAIN_EXCLUDES(mutex_);

 private:
  std::chrono::nanoseconds Now() const { return clock_.Now(); }

  const std::string name_;
  const RealClock clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  QueueState state_ PSTRAIN_GUARDED_BY(mutex_);
  std::uint64_t adds_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::uint64_t retries_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::map<ObjectKey, std::chrono::nanoseconds> started_ PSTRAIN_GUARDED_BY(mutex_);
  DurationHistogram queued_for_;
  DurationHistogram worked_for_;
};

}  // namespace pstrain::kube
