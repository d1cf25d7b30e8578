#pragma once

#include <pstrain/cluster_resolver.h>
#include <pstrain/deadline.h>
#include <pstrain/partitioners.h>
#include <pstrain/strategy.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "library/coordinator/closure_queue.h"
#include "library/coordinator/mark_variables.h"
#include "library/coordinator/metric_table.h"
#include "library/coordinator/program_roles.h"
#include "library/data/named_iterators.h"
#include "library/payload.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/contract/mark.pb.h"
#include "proto/job/fixed_fields.h"

namespace pstrain::program {

/// When a call that was given this deadline now has to return.
SteadyTime EndOf(const Deadline& deadline);

/// A digest of each function and dataset function that is registered here, by what to call it: what
/// all roles of a program have alike. The error of a registry that has one name twice. Any thread.
Result<FixedDigests> PartsOfProgram();

/// One run of a program, as strategy, coordinator and variables share it. Any thread, but for what
/// ClosureQueue says.
class Run {
 public:
  /// As ParameterServerStrategy::Create.
  static Result<std::shared_ptr<Run>> Start(const ClusterResolver& cluster,
                                            const StrategyOptions& options);
  explicit Run(std::uint32_t workers, Partitioner partitioner = {}, ClusterResolver cluster = {});
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// As Chief::Declare.
  Status Declare(const VariableSpec& variable);
  /// As ClosureQueue::Schedule; iterators among the arguments give the call its elements.
  Result<std::shared_ptr<const ClosureState>> Schedule(const Call& call, CallOptions options = {})
      PSTRAIN_EXCLUDES(scheduling_);
  /// A CheckpointManager is made, which keeps so many marks: as ClosureQueue::AwaitBegin.
  Status AwaitBegin(std::optional<std::uint32_t> keep);
  /// As CheckpointManager::RestoreOrInitialize.
  Result<std::int64_t> Begin();
  /// As ClosureQueue::SaveMark, with metrics and iterators.
  Status SaveMark(ProgramMark mark, SteadyTime deadline) PSTRAIN_EXCLUDES(scheduling_);
  ClosureQueue& queue() { return queue_; }
  MetricTable& metrics() { return metrics_; }
  /// Of the variables that are declared.
  const Partitioner& partitioner() const { return partitioner_; }
  /// Of Start.
  const ClusterResolver& cluster() const { return cluster_; }
  const std::shared_ptr<NamedIterators>& iterators() const { return iterators_; }
  /// Workers of the strategy.
  std::uint32_t workers() const { return workers_; }
  /// Waits for what was scheduled, then for the run's end, once. The exit code, or the error.
  Result<int> Finish() PSTRAIN_EXCLUDES(mutex_);

 private:
  /// The roles, once the chief serves, which works on the run's queue.
  static Result<std::unique_ptr<ProgramRoles>> StartHere(const StrategyOptions& options,
                                                         ClosureQueue& queue);
  /// Once: the variables of the mark that are not declared by now.
  void ListUndeclared();

  const std::uint32_t workers_;
  const Partitioner partitioner_;
  const ClusterResolver cluster_;
  MetricTable metrics_;
  MarkVariables mark_variables_;
  const std::shared_ptr<NamedIterators> iterators_ = std::make_shared<NamedIterators>();
  ClosureQueue queue_;
  /// Held while a call takes elements and is scheduled.
  Mutex scheduling_;
  Mutex mutex_;
  /// Null once it has finished.
  std::unique_ptr<ProgramRoles> roles_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
