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
  Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// As Chief::Declare.
  Status Declare(const VariableSpec& variable);
  /// As ClosureQueue::Schedule.
  Result<std::shared_ptr<const ClosureState>> Schedule(
      const Call& call, ClosureQueue::Place place = ClosureQueue::Place::kOpenPhase);
  ClosureQueue& queue() { return queue_; }
  /// Waits for what was scheduled, then for the run's end, once. The exit code, or the error.
  Result<int> Finish() PSTRAIN_EXCLUDES(mutex_);

 private:
  ClosureQueue queue_;
  Mutex mutex_;
  /// Null once it has finished.
  std::unique_ptr<LocalCluster> cluster_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
