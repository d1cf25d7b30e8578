#pragma once

#include <pstrain/deadline.h>
#include <pstrain/strategy.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "library/coordinator/closure_queue.h"
#include "library/coordinator/metric_table.h"
#include "library/local/local_cluster.h"
#include "library/payload.h"
#include "proto/contract/checkpoint.pb.h"

namespace pstrain::program {

/// When a call that was given this deadline now has to return.
SteadyTime EndOf(const Deadline& deadline);

/// One run of a program, as strategy, coordinator and variables share it. Any thread, but for what
/// ClosureQueue says.
class Run {
 public:
  /// As ParameterServerStrategy::Create.
  static Result<std::shared_ptr<Run>> Start(const StrategyOptions& options);
  explicit Run(std::uint32_t workers);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// As Chief::Declare.
  Status Declare(const VariableSpec& variable);
  /// As ClosureQueue::Schedule; iterators among the arguments give the call its elements.
  Result<std::shared_ptr<const ClosureState>> Schedule(
      const Call& call, ClosureQueue::Place place = ClosureQueue::Place::kOpenPhase)
      PSTRAIN_EXCLUDES(scheduling_);
  ClosureQueue& queue() { return queue_; }
  MetricTable& metrics() { return metrics_; }
  /// Workers of the strategy.
  std::uint32_t workers() const { return workers_; }
  /// Waits for what was scheduled, then for the run's end, once. The exit code, or the error.
  Result<int> Finish() PSTRAIN_EXCLUDES(mutex_);

 private:
  const std::uint32_t workers_;
  MetricTable metrics_;
  ClosureQueue queue_;
  /// Held while a call takes elements and is scheduled.
  Mutex scheduling_;
  Mutex mutex_;
  /// Null once it has finished.
  std::unique_ptr<LocalCluster> cluster_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
